package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/report"
)

// answer is that to an additional question: in words, and as a table.
type answer struct {
	Title, Answer string
	Rows          []*report.Record
	// Timelines are drawn in the page.
	Timelines []timelineChart
	Notes     []string
}

// sections are the answer in a terminal.
func (a *answer) sections() []report.Section {
	return []report.Section{{Title: a.Title, Sentences: []string{a.Answer}}, {Table: a.Rows}, {Notes: a.Notes}}
}

// answers are those to the requested questions.
func answers(c *compare.Comparison) []answer {
	var out []answer
	f := newFigures(c)
	add := func(a answer) { // Of its demand a short history shows too little for an answer.
		a.Answer = cmp.Or(c.TooShort, a.Answer)
		out = append(out, a)
	}
	if c.WarmPool != nil && len(c.WarmPool.Trials) > 0 { // None are there where it was interrupted before.
		add(f.poolAnswer(c.WarmPool))
	}
	if len(c.WhatIfs)+len(c.Shapes) > 0 {
		add(f.whatIfAnswer(c))
	}
	if c.Wakes != nil {
		add(f.wakeAnswer(c.Wakes))
	}
	if c.Variants != nil {
		add(f.variantsAnswer(c.Variants))
	}
	if c.Forecasts != nil {
		out = append(out, forecastsAnswer(c.Forecasts))
	}
	return out
}

func (f figures) whatIf(r *report.Record, one *compare.WhatIf) {
	r.Text("change", "Forewarm with", one.Change)
	r.Data("leadTimeSeconds", one.LeadTime)
	r.Data("waitSeconds", one.Wait)
	f.changed(r, one)
}

func (f figures) shape(r *report.Record, one *compare.WhatIf) {
	r.Data("shape", one.Change)
	r.Data("policy", compare.Forewarm)
	r.Data("gpuPrice", nullUnless(one.GPUPrice, one.GPUPrice))
	r.Data("capacity", one.Capacity)
	r.Data("gpusPerReplica", one.GPUs)
	f.changed(r, one)
}

// changed are the figures of a change.
func (f figures) changed(r *report.Record, one *compare.WhatIf) {
	r.Number("gpuHours", "GPU-hours", one.GPUHours(), humanize.Amount)
	f.dollars(r, one.GPUHours(), one.GPUPrice)
	change := humanize.Unknown
	if f.now > 0 {
		change = humanize.Percent(f.cost(one.GPUHours(), one.GPUPrice)/f.now - 1)
	}
	r.Text("", "change", change)
	f.limited(r, one.Limited, one.MeetsObjective)
}

// whatIfAnswer compares Forewarm with itself under a shorter lead time, a longer wait, or on another shape of GPU, the
// cheapest first.
func (f figures) whatIfAnswer(c *compare.Comparison) answer {
	out := answer{
		Title:  "What would save more",
		Answer: "None of these changes saves anything within the objective.",
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
				"replica sustains. All shapes are assumed to have the same lead time and "+f.replicas()+" replicas.")
	}
	all = append(all, c.WhatIfs...)
	cost := func(one *compare.WhatIf) float64 { return f.cost(one.GPUHours(), one.GPUPrice) }
	slices.SortStableFunc(all, func(a, b compare.WhatIf) int { return cmp.Compare(cost(&a), cost(&b)) })
	out.Rows = report.Records(all, f.whatIf)
	saves := func(one compare.WhatIf) bool { return one.MeetsObjective && cost(&one) < f.now }
	if best := slices.IndexFunc(all, saves); best >= 0 {
		amount := func(v float64) string { return humanize.Amount(v) + " GPU-hours" }
		if f.GPUPrice > 0 {
			amount = func(v float64) string { return "$" + humanize.Amount(v) }
		}
		out.Answer = "The change that saves most within the objective is " + all[best].Change + ": " +
			amount(cost(&all[best])) + " instead of " + amount(f.now) + "."
	}
	return out
}

func (f figures) wakes(w *compare.WakesResult) []*report.Record {
	all := append([]compare.WakeResult{w.Starts}, w.Wakes...)
	return report.Records(all, func(r *report.Record, one *compare.WakeResult) {
		asleep, below := one.Asleep*f.GPUs, w.BreakEven(one)
		pays := humanize.Share(below)
		if one.Policy == w.Starts.Policy {
			asleep, pays = 0, humanize.Unknown
		}
		r.Text("policy", "policy", one.Policy)
		r.Number("gpuHoursAwake", "GPU-hours awake", one.Awake*f.GPUs, humanize.Amount)
		r.Number("gpuHoursAsleep", "asleep", asleep, humanize.Amount)
		f.limited(r, one.Limited, one.MeetsObjective)
		r.Add("paysBelow", "pays below", below, pays)
	})
}

// wakeAnswer compares servers that wake with servers that start.
func (f figures) wakeAnswer(w *compare.WakesResult) answer {
	best := &w.Wakes[0]
	wakes, starts := humanize.Amount(best.Awake*f.GPUs), humanize.Amount(w.Starts.Awake*f.GPUs)
	return answer{
		Title: "Servers that sleep",
		Answer: "With servers that wake in " + humanize.Span(w.Wake.Time) + " Forewarm takes " + wakes +
			" GPU-hours awake instead of " + starts +
			". That pays while a GPU-hour asleep costs less than " + humanize.Share(w.BreakEven(best)) + " of one awake.",
		Rows: f.wakes(w),
		Notes: []string{
			"Asleep are as many servers as were awake at most, less those that are awake. \"Pays below\" is the price of a GPU-hour asleep, as a " +
				"share of one awake, below which it is cheaper than Forewarm with servers that start: a server that keeps its GPU for itself " +
				"costs all of it, several on one GPU share it.",
		},
	}
}

func (f figures) variants(v *compare.VariantsResult) []*report.Record {
	return report.Records(v.Results, func(r *report.Record, one *compare.VariantResult) {
		r.Text("demandOn", "demand on", variantsOf(v, one))
		r.Number("dollars", "$", one.Dollars, humanize.Amount)
		var hours report.Record
		for i, name := range v.Names {
			hours.Data(name, one.ReplicaHours[i])
			r.Text("", "hours of "+name, humanize.Amount(one.ReplicaHours[i]))
		}
		r.Data("replicaHours", &hours)
		r.Add("churnPerHour", "churn /h", one.ChurnPerHour, formatDecimal(one.ChurnPerHour, 1))
		f.limited(r, one.Limited, one.MeetsObjective)
	})
}

// variantsOf names those that have the demand.
func variantsOf(v *compare.VariantsResult, one *compare.VariantResult) string {
	if one.Name != "" {
		return one.Name + " alone"
	}
	return strings.Join(v.Names, " and ")
}

// variantsAnswer compares all together with the cheapest alone that keeps the objective.
func (f figures) variantsAnswer(v *compare.VariantsResult) answer {
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
		text += "; they miss the objective, " + humanize.Share(all.Limited) + " of the demand is " + f.LimitedWord()
	}
	return answer{
		Title: "Variants", Answer: text + ".", Rows: f.variants(v),
		Notes: []string{
			"The cheapest is filled first. One that takes longer to start than the own workload holds what lasts, and the others have " +
				"what is starting. Interruptions are assumed to be independent.",
		},
	}
}
