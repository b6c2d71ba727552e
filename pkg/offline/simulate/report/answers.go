package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/report"
)

// answer is the answer to an additional question, as a text and as a table.
type answer struct {
	Title, Answer string
	Rows          []*report.Record
	// Timelines are drawn in the page.
	Timelines []timelineChart
	Notes     []string
}

// sections returns the answer for a terminal.
func (a *answer) sections() []report.Section {
	return []report.Section{{Title: a.Title, Sentences: []string{a.Answer}}, {Table: a.Rows}, {Notes: a.Notes}}
}

// answers returns the answers to the requested questions.
func answers(c *compare.Comparison) []answer {
	var out []answer
	f := newFigures(c)
	add := func(a answer) { // A short history has too little demand for an answer.
		a.Answer = cmp.Or(c.NoVerdict, a.Answer)
		out = append(out, a)
	}
	if c.WarmPool != nil && len(c.WarmPool.Trials) > 0 { // None if the simulation was interrupted.
		add(f.poolAnswer(c.WarmPool))
	}
	for _, outcomes := range f.byQuestion(c.Scenarios) {
		add(f.scenarioAnswer(outcomes))
	}
	if c.Forecasts != nil {
		out = append(out, forecastsAnswer(c.Forecasts))
	}
	return out
}

// byQuestion groups outcomes by their questions. The questions keep their order, and the cheapest answer comes first.
func (f figures) byQuestion(all []compare.Outcome) [][]compare.Outcome {
	var out [][]compare.Outcome
	for _, o := range all {
		at := slices.IndexFunc(out, func(group []compare.Outcome) bool { return group[0].Title == o.Title })
		if at < 0 {
			at, out = len(out), append(out, nil)
		}
		out[at] = append(out[at], o)
	}
	for _, group := range out {
		slices.SortStableFunc(group, func(a, b compare.Outcome) int { return cmp.Compare(f.costOf(&a), f.costOf(&b)) })
	}
	return out
}

// costOf returns the cost of a scenario, in dollars if there is a price, otherwise in GPU-hours.
func (f figures) costOf(o *compare.Outcome) float64 {
	if f.GPUPrice > 0 {
		return o.Dollars
	}
	return o.GPUHours()
}

// scenarios returns a row for each answer to a question.
func (f figures) scenarios(group []compare.Outcome) []*report.Record {
	sleeps := slices.ContainsFunc(group, func(o compare.Outcome) bool { return o.Asleep > 0 })
	var parts []compare.Part
	for i := range group {
		if parts == nil {
			parts = group[i].Parts
		}
	}
	return report.Records(group, func(r *report.Record, o *compare.Outcome) {
		r.Data("question", o.Title)
		r.Add("name", "Forewarm with", o.Name, f.describeScenario(o))
		r.Data("leadTimeSeconds", o.LeadTime)
		r.Data("waitSeconds", o.Wait)
		r.Data("capacity", o.Capacity)
		r.Data("gpusPerReplica", o.GPUs)
		r.Data("gpuPrice", nullUnless(o.GPUPrice, o.GPUPrice))
		r.Number("gpuHours", "GPU-hours", o.GPUHours(), humanize.Amount)
		r.Add("dollars", headIf(f.GPUPrice > 0, "$"), nullUnless(o.GPUPrice, o.Dollars), humanize.Amount(o.Dollars))
		r.Text("", "change", f.change(f.costOf(o)))
		r.Number("gpuHoursAsleep", headIf(sleeps, "asleep"), o.Asleep*f.GPUs, humanize.Amount)
		r.Number("paysBelow", headIf(sleeps, "pays below"), f.paysBelow(o), humanize.Share)
		r.Data("parts", report.Records(o.Parts, func(r *report.Record, part *compare.Part) {
			r.Data("name", part.Name)
			r.Data("replicaHours", part.ReplicaHours)
		}))
		for i := range parts {
			hours := humanize.Unknown
			if len(o.Parts) > 0 {
				hours = humanize.Amount(o.Parts[i].ReplicaHours)
			}
			r.Text("", "hours of "+parts[i].Name, hours)
		}
		churn := o.Report.ChurnPerHour()
		r.Add("churnPerHour", "churn /h", churn, formatDecimal(churn, 1))
		f.limited(r, o.Limited, o.MeetsObjective)
	})
}

// allScenarios has the answers to all questions.
func (f figures) allScenarios(c *compare.Comparison) []*report.Record {
	var out []*report.Record
	for _, group := range f.byQuestion(c.Scenarios) {
		out = append(out, f.scenarios(group)...)
	}
	return out
}

// describeScenario returns the name of a scenario, with its replicas if they differ.
func (f figures) describeScenario(o *compare.Outcome) string {
	if f.GPUPrice == 0 || o.GPUs == f.GPUs && o.GPUPrice == f.GPUPrice && o.Capacity == f.Capacity {
		return o.Name
	}
	return o.Name + fmt.Sprintf(" (%s × $%s/h, capacity %s)", humanize.Number(o.GPUs), formatDecimal(o.GPUPrice, 2),
		humanize.Number(o.Capacity))
}

// change compares a cost with that of Forewarm as configured.
func (f figures) change(cost float64) string {
	if !(f.now > 0) {
		return humanize.Unknown
	}
	return humanize.Percent(cost/f.now - 1)
}

// paysBelow returns the price of a sleeping server, as a share of the price of an awake one, below which waking servers is cheaper than
// starting them. It is 0 if waking is never cheaper, and NaN without sleeping servers.
func (f figures) paysBelow(o *compare.Outcome) float64 {
	if o.Asleep == 0 {
		return math.NaN()
	}
	return max(0, (f.nowHours-o.GPUHours())/(o.Asleep*f.GPUs))
}

// scenarioAnswer names the cheapest scenario that meets the objective.
func (f figures) scenarioAnswer(group []compare.Outcome) answer {
	out := answer{
		Title: group[0].Title, Answer: "None of these meets the objective at a lower cost.", Rows: f.scenarios(group),
		Notes: group[0].Notes,
	}
	best := slices.IndexFunc(group, func(o compare.Outcome) bool { return o.MeetsObjective })
	if best < 0 || f.costOf(&group[best]) >= f.now {
		return out
	}
	o := &group[best]
	amount := func(v float64) string { return humanize.Amount(v) + " GPU-hours" }
	if f.GPUPrice > 0 {
		amount = func(v float64) string { return "$" + humanize.Amount(v) }
	}
	out.Answer = "The cheapest that meets the objective is " + f.describeScenario(o) + ": " + amount(f.costOf(o))
	if !math.IsNaN(f.now) {
		out.Answer += " instead of " + amount(f.now)
	}
	if o.Asleep > 0 {
		out.Answer += " for the servers that are awake. This pays off if a GPU-hour of a sleeping server costs less than " +
			humanize.Share(
				f.paysBelow(o),
			) + " of a GPU-hour of a server that is awake"
	}
	out.Answer += "."
	return out
}
