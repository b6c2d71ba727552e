package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// section is an additional question: its answer in words, and a table.
type section struct {
	Title, Answer string
	Heads         []string
	Lines         [][]string
	// Timelines are drawn in the page.
	Timelines []timelineChart
	Notes     []string
}

// sections are the requested ones.
func sections(c *compare.Comparison) []section {
	var out []section
	add := func(s section) { // Of its demand a short history shows too little for an answer.
		s.Answer = cmp.Or(c.TooShort, s.Answer)
		out = append(out, s)
	}
	if c.WarmPool != nil && len(c.WarmPool.Trials) > 0 { // None are there where it was interrupted before.
		add(poolSection(c.WarmPool, &c.Assumptions))
	}
	if len(c.WhatIfs)+len(c.Shapes) > 0 {
		add(whatIfSection(c))
	}
	if c.Wakes != nil {
		add(wakeSection(c.Wakes, &c.Assumptions))
	}
	if c.Variants != nil {
		add(variantsSection(&c.Assumptions, c.Variants))
	}
	if c.Forecasts != nil {
		out = append(out, forecastsSection(c.Forecasts))
	}
	return out
}

// formatLimited is the share that the objective limits, and whether it misses the objective.
func formatLimited(share float64, meets bool) string {
	if meets {
		return humanize.Share(share)
	}
	return humanize.Share(share) + " misses"
}

// writeSections are the answers in a terminal.
func writeSections(out *bytes.Buffer, c *compare.Comparison, width int) {
	for _, s := range sections(c) {
		writeSection(out, s, width)
	}
}

func writeSection(out *bytes.Buffer, s section, width int) {
	fmt.Fprintf(out, "\n%s\n", s.Title)
	paragraph(out, s.Answer, width)
	out.WriteByte('\n')
	writeAligned(out, append([][]string{s.Heads}, s.Lines...), width)
	out.WriteByte('\n')
	for _, n := range s.Notes {
		paragraph(out, n, width)
	}
}

// whatIfSection compares Forewarm with itself under a shorter lead time, a longer wait, or on another shape of GPU, the
// cheapest first.
func whatIfSection(c *compare.Comparison) section {
	a := &c.Assumptions
	now := math.NaN()
	if ours := c.Find(compare.Forewarm); ours != nil {
		now = gpuHours(a, ours)
	}
	cost := (*compare.WhatIf).GPUHours
	amount := func(v float64) string { return humanize.Amount(v) + " GPU-hours" }
	if a.GPUPrice > 0 {
		now *= a.GPUPrice
		cost = (*compare.WhatIf).Dollars
		amount = func(v float64) string { return "$" + humanize.Amount(v) }
	}
	out := section{
		Title:  "What would save more",
		Answer: "None of these changes saves anything within the objective.",
		Heads:  []string{"Forewarm with", "GPU-hours", "$", "change", a.LimitedName()},
		Notes:  []string{"Each line is one change. The objective stays, but how much of it is used differs."},
	}
	all := slices.Clone(c.Shapes)
	for i := range all {
		one := &all[i]
		one.Change += fmt.Sprintf(
			" (%s × $%s/h, capacity %s)",
			humanize.Number(one.GPUs),
			formatDecimal(one.GPUPrice, 2),
			humanize.Number(one.Capacity),
		)
	}
	if len(all) > 0 {
		out.Notes = append(
			out.Notes,
			"A shape is given by the GPUs of a replica, the price of a GPU for an hour, and what a "+
				"replica sustains. All shapes are assumed to have the same lead time and "+replicas(a)+" replicas.",
		)
	}
	all = append(all, c.WhatIfs...)
	slices.SortStableFunc(all, func(a, b compare.WhatIf) int { return cmp.Compare(cost(&a), cost(&b)) })
	saves := false
	for i := range all {
		one := &all[i]
		change := humanize.Unknown
		if now > 0 {
			change = humanize.Percent(cost(one)/now - 1)
		}
		out.Lines = append(out.Lines, []string{
			one.Change, humanize.Amount(one.GPUHours()), humanize.Amount(one.Dollars()), change,
			formatLimited(one.Limited, one.MeetsObjective),
		})
		if one.MeetsObjective && cost(one) < now && !saves {
			saves = true
			out.Answer = "The change that saves most within the objective is " + one.Change + ": " + amount(cost(one)) +
				" instead of " + amount(now) + "."
		}
	}
	if a.GPUPrice == 0 {
		out.drop(2)
	}
	return out
}
