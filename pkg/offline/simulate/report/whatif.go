package report

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// whatIfSection compares Forewarm with itself under a shorter lead time or a longer wait, the largest saving first.
func whatIfSection(c *compare.Comparison) section {
	a := &c.Assumptions
	now := math.NaN()
	if ours := c.Find(compare.Forewarm); ours != nil {
		now = gpuHours(a, ours)
	}
	out := section{
		Title: "What would save more",
		Heads: []string{"Forewarm with", "GPU-hours", "change", "late"},
		Notes: []string{"Each line changes one thing. The objective stays, but how much of it is used differs."},
	}
	if a.GPUPrice > 0 {
		out.Heads = slices.Insert(out.Heads, 2, "$")
	}
	for _, one := range c.WhatIfs {
		hours := one.ReplicaHours * a.GPUs
		line := []string{one.Change, humanize.Amount(hours)}
		if a.GPUPrice > 0 {
			line = append(line, humanize.Amount(hours*a.GPUPrice))
		}
		change := "-"
		if now > 0 {
			change = humanize.Percent(hours/now - 1)
		}
		out.Lines = append(out.Lines, append(line, change, formatLate(one.Late, one.MeetsObjective)))
	}
	best := slices.IndexFunc(c.WhatIfs,
		func(w compare.WhatIf) bool { return w.MeetsObjective && w.ReplicaHours*a.GPUs < now })
	if best < 0 {
		out.Answer = "No shorter lead time and no longer wait saves GPU-hours within the objective."
		return out
	}
	one := c.WhatIfs[best]
	hours := one.ReplicaHours * a.GPUs
	out.Answer = "The largest saving within the objective: with " + one.Change + " Forewarm takes " +
		humanize.Amount(hours) + " GPU-hours instead of " + humanize.Amount(now) + "."
	return out
}
