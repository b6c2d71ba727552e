package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/fleet"
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
	if len(c.WhatIfs) > 0 {
		add(whatIfSection(c))
	}
	if c.Wakes != nil {
		add(wakeSection(c.Wakes, &c.Assumptions))
	}
	if c.Variants != nil {
		add(variantsSection(&c.Assumptions, c.Variants))
	}
	if len(c.Shapes) > 0 {
		add(shapesSection(c))
	}
	if c.Sharing != nil {
		out = append(out, sharingSection(c.Sharing, c.Assumptions.GPUPrice))
	}
	if c.Spot != nil {
		add(spotSection(c.Spot))
	}
	return out
}

// shapesSection names the cheapest shape of GPU within the objective.
func shapesSection(c *compare.Comparison) section {
	out := section{
		Title:  "Which GPU",
		Answer: describeCheapest(c, compare.Forewarm) + " " + describeCheapest(c, compare.BestTarget),
		Heads:  []string{"shape and policy", "capacity", "GPUs", "$/h", "GPU-hours", "$", c.Assumptions.LimitedName()},
		Notes: []string{
			"Capacity is what a replica on the shape sustains, in the metric's unit; $/h is the price of a GPU. All shapes " +
				"are assumed to have the same lead time and " + replicas(
				&c.Assumptions,
			) + " replicas.",
		},
	}
	for _, t := range c.Shapes {
		out.Lines = append(out.Lines, []string{
			t.Name + ", " + t.Policy, humanize.Number(t.Capacity), humanize.Number(t.GPUs), formatDecimal(t.Price, 2),
			humanize.Amount(t.GPUHours()), humanize.Amount(t.Dollars()), formatLimited(t.Limited, t.MeetsObjective),
		})
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

// describeCheapest is a sentence on a policy: the shape that it is cheapest on, and the dearest that meets the objective too.
func describeCheapest(c *compare.Comparison, name string) string {
	objective := humanize.ShareAsWritten(c.Assumptions.Objective) + " " + c.Assumptions.LimitedWord()
	best, ok := fleet.Cheapest(c.Shapes, name)
	if !ok {
		return "No shape keeps " + name + " within " + objective + "."
	}
	dollars := humanize.Amount(best.Dollars())
	text := "Cheapest with " + name + " within " + objective + ": " + best.Name + ", $" + dollars
	dearest := best
	for _, t := range c.Shapes {
		if t.Policy == name && t.MeetsObjective && t.Dollars() > dearest.Dollars() {
			dearest = t
		}
	}
	if dearest.Name != best.Name {
		text += fmt.Sprintf(" against $%s on %s", humanize.Amount(dearest.Dollars()), dearest.Name)
	}
	return text + "."
}

// sharingSection compares packed fractions with one GPU for each replica.
func sharingSection(p *fleet.Packing, price float64) section {
	taken, whole := humanize.Plural(p.GPUs, "GPU"), strconv.Itoa(p.Unsliced)
	if price > 0 {
		taken += " for $" + formatDecimal(price*float64(p.GPUs), 2) + " an hour"
		whole += " for $" + formatDecimal(price*float64(p.Unsliced), 2)
	}
	out := section{
		Title:  "Fractions of GPUs, by " + p.Sharing.Title(),
		Answer: taken + " instead of " + whole + ": " + formatSaved(p) + " saved. " + describeWasted(p),
		Heads:  []string{"on each GPU", "GPUs", "free"},
		Notes:  []string{p.Sharing.Note()},
	}
	for _, h := range p.Plan {
		out.Lines = append(out.Lines, []string{h.String(), strconv.Itoa(h.GPUs), fleet.FormatFraction(h.Free)})
	}
	return out
}

func formatSaved(p *fleet.Packing) string {
	if p.GPUs == p.Unsliced {
		return "nothing"
	}
	return strconv.FormatFloat(100*p.Saved(), 'f', 0, 64) + "%"
}

// describeWasted is the unused part, and the bound for every packing.
func describeWasted(p *fleet.Packing) string {
	text := "Nothing is unused."
	if rest := p.Wasted(); rest.Sign() > 0 {
		text = fleet.FormatFraction(rest) + " of a GPU is unused."
		if rest.Cmp(big.NewRat(1, 1)) > 0 {
			text = fleet.FormatFraction(rest) + " GPUs are unused."
		}
	}
	if p.GPUs == p.Least {
		return text + " No packing needs fewer."
	}
	return text + " Every packing needs at least " + strconv.Itoa(p.Least) + "."
}

// spotSection is about the savings of a tail on spot.
func spotSection(s *fleet.Split) section {
	saved := formatDecimal(100*s.Saved(), 1) + "% saved"
	if s.Saved() < 0 {
		saved = formatDecimal(-100*s.Saved(), 1) + "% more, so spot does not pay"
	}
	return section{
		Title: "Spot",
		Answer: fmt.Sprintf(
			"With %s replicas on demand and those above them on spot at $%s, Forewarm costs $%s instead "+
				"of $%s: %s.", humanize.Number(s.Base), formatDecimal(s.Price, 2), humanize.Amount(s.Dollars),
			humanize.Amount(s.AllOnDemand), saved,
		),
		Heads: []string{"", "GPU-hours"},
		Lines: [][]string{{"on demand", humanize.Amount(s.OnDemand)}, {"on spot", humanize.Amount(s.Spot)}},
		Notes: []string{
			fmt.Sprintf(
				"%s interruptions are expected. After each, the next replica is ready in %s: %s of the replica-hours "+
					"are lost.", humanize.Amount(s.Restarts), humanize.Span(s.Lead), humanize.Share(s.Missing),
			),
			"Interruptions are assumed to be independent, and a new replica to find a place at once. A spot market " +
				"interrupts many replicas together: that is why the median stays on demand.",
		},
	}
}

// writeSections are the answers in a terminal.
func writeSections(out *bytes.Buffer, c *compare.Comparison, width int) {
	for _, s := range sections(c) {
		fmt.Fprintf(out, "\n%s\n", s.Title)
		paragraph(out, s.Answer, width)
		out.WriteByte('\n')
		writeAligned(out, append([][]string{s.Heads}, s.Lines...), width)
		out.WriteByte('\n')
		for _, n := range s.Notes {
			paragraph(out, n, width)
		}
	}
}

// whatIfSection compares Forewarm with itself under a shorter lead time or a longer wait, the largest saving first.
func whatIfSection(c *compare.Comparison) section {
	a := &c.Assumptions
	now := math.NaN()
	if ours := c.Find(compare.Forewarm); ours != nil {
		now = gpuHours(a, ours)
	}
	out := section{
		Title: "What would save more",
		Heads: []string{"Forewarm with", "GPU-hours", "change", a.LimitedName()},
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
		out.Lines = append(out.Lines, append(line, change, formatLimited(one.Limited, one.MeetsObjective)))
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
