package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
		one.Change += fmt.Sprintf(" (%s × $%s/h, capacity %s)", humanize.Number(one.GPUs),
			formatDecimal(one.GPUPrice, 2), humanize.Number(one.Capacity))
	}
	if len(all) > 0 {
		out.Notes = append(out.Notes,
			"A shape is given by the GPUs of a replica, the price of a GPU for an hour, and what a "+
				"replica sustains. All shapes are assumed to have the same lead time and "+replicas(a)+" replicas.")
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

// wakeSection compares servers that wake with servers that start.
func wakeSection(w *compare.WakesResult, a *compare.Assumptions) section {
	out := section{
		Title: "Servers that sleep",
		Heads: []string{"policy", "GPU-hours awake", "asleep", a.LimitedName(), "pays below"},
		Notes: []string{
			"Asleep are as many servers as were awake at most, less those that are awake. \"Pays below\" is the price of a GPU-hour asleep, as a " +
				"share of one awake, below which it is cheaper than Forewarm with servers that start: a server that keeps its GPU for itself " +
				"costs all of it, several on one GPU share it.",
		},
	}
	add := func(r *compare.WakeResult, pays string) {
		out.Lines = append(out.Lines, []string{
			r.Policy,
			humanize.Amount(r.Awake * a.GPUs),
			humanize.Amount(r.Asleep * a.GPUs),
			formatLimited(r.Limited, r.MeetsObjective),
			pays,
		})
	}
	starts := w.Starts
	starts.Asleep = 0
	add(&starts, humanize.Unknown)
	for i := range w.Wakes {
		add(&w.Wakes[i], humanize.Share(w.BreakEven(&w.Wakes[i])))
	}
	best := &w.Wakes[0]
	out.Answer = fmt.Sprintf(
		"With servers that wake in %s Forewarm takes %s GPU-hours awake instead of %s. That pays while a GPU-hour asleep "+
			"costs less than %s of one awake.",
		humanize.Span(w.Wake.Time),
		humanize.Amount(best.Awake*a.GPUs),
		humanize.Amount(w.Starts.Awake*a.GPUs),
		humanize.Share(w.BreakEven(best)),
	)
	return out
}

// variantsSection compares all variants together with each alone.
func variantsSection(a *compare.Assumptions, v *compare.VariantsResult) section {
	out := section{
		Title: "Variants",
		Heads: []string{"demand on", "$"},
		Notes: []string{
			"The cheapest is filled first. One that takes longer to start than the own workload holds what lasts, and the others have " +
				"what is starting. Interruptions are assumed to be independent.",
		},
	}
	for _, name := range v.Names {
		out.Heads = append(out.Heads, "hours of "+name)
	}
	out.Heads = append(out.Heads, "churn /h", a.LimitedName())
	for i := range v.Results {
		one := &v.Results[i]
		line := []string{variantsOf(v, one), humanize.Amount(one.Dollars)}
		for _, hours := range one.ReplicaHours {
			line = append(line, humanize.Amount(hours))
		}
		out.Lines = append(out.Lines,
			append(line, formatDecimal(one.ChurnPerHour, 1), formatLimited(one.Limited, one.MeetsObjective)))
	}
	out.Answer = variantsAnswer(a, v)
	return out
}

// variantsOf names those that have the demand.
func variantsOf(v *compare.VariantsResult, one *compare.VariantResult) string {
	if one.Name != "" {
		return one.Name + " alone"
	}
	return strings.Join(v.Names, " and ")
}

// variantsAnswer compares all together with the cheapest alone that keeps the objective.
func variantsAnswer(a *compare.Assumptions, v *compare.VariantsResult) string {
	all := v.Together()
	text := "Together they cost $" + humanize.Amount(all.Dollars)
	var best *compare.VariantResult
	for i := range v.Results[1:] {
		if one := &v.Results[1+i]; one.MeetsObjective && (best == nil || one.Dollars < best.Dollars) {
			best = one
		}
	}
	switch {
	case best == nil:
		text += ", and none of them alone keeps the objective"
	case best.Dollars > 0:
		text += fmt.Sprintf(", and the cheapest alone that keeps the objective, %s, $%s: %s", best.Name,
			humanize.Amount(best.Dollars), humanize.Percent(all.Dollars/best.Dollars-1))
	}
	if !all.MeetsObjective {
		text += "; they miss the objective, " + humanize.Share(all.Limited) + " of the demand is " + a.LimitedWord()
	}
	return text + "."
}
