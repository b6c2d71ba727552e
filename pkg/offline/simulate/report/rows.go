package report

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// row is a policy in words, for both tables.
type row struct {
	Mark, Class, Policy string
	// Numbers are in the order of the columns.
	Numbers []string
	// Misses says that more was late than the objective allows, Hindsight that its target was chosen afterwards.
	Misses, Hindsight bool
}

// column is a number of the table: its heading in two lines, the same in words, and what it is of a policy.
type column struct {
	Above, Below string
	Title        string
	of           func(*compare.Policy) string
}

// columns are those of a comparison; the dollars only where a price was given.
func columns(a *compare.Assumptions) []column {
	hours := func(p *compare.Policy) string { return humanize.Amount(gpuHours(a, p)) }
	cost := func(p *compare.Policy) string { return humanize.Amount(dollars(a, p)) }
	late := func(p *compare.Policy) string { return humanize.Share(p.Report.LateShare()) }
	unserved := func(p *compare.Policy) string { return humanize.Share(p.Report.UnservedShare()) }
	target := func(p *compare.Policy) string { return humanize.Number(p.Target) }
	cold := func(p *compare.Policy) string { return strconv.Itoa(p.Report.ColdStarts) }
	churn := func(p *compare.Policy) string { return decimal(p.Report.ChurnPerHour(), 1) }
	early := func(p *compare.Policy) string { return minutes(p.Early) }
	lateBy := func(p *compare.Policy) string { return minutes(p.LateBy) }
	ratio := func(p *compare.Policy) string { return decimal(p.Report.Cost(), 2) }
	all := []column{
		{"", "target", "Target that it was played with, in the metric's unit", target},
		{"GPU", "hours", "GPU-hours paid for", hours},
		{"", "$", "What they cost at the price given", cost},
		{"", "late", "Demand that waited too long", late},
		{"un-", "served", "Demand that gave up", unserved},
		{"cold", "starts", "Times that demand came and no replica was ready", cold},
		{"churn", "/h", "Replicas started or stopped in an hour", churn},
		{"min", "early", "Minutes that replicas were ready before the demand needed them", early},
		{"min", "late", "Minutes that replicas were ready after the demand needed them", lateBy},
		{"cost/", "demand", "Replica-hours paid for over those of the demand", ratio},
	}
	if a.GPUPrice == 0 {
		return slices.DeleteFunc(all, func(c column) bool { return c.Below == "$" })
	}
	return all
}

func newRow(p *compare.Policy) row {
	return row{
		Mark: mark(p.Name), Class: class(p.Name), Policy: p.Name, Misses: !p.Meets, Hindsight: p.Hindsight,
	}
}

func rows(c *compare.Comparison, of []column) []row {
	out := make([]row, len(c.Policies))
	for i := range c.Policies {
		out[i] = newRow(&c.Policies[i])
		for _, column := range of {
			out[i].Numbers = append(out[i].Numbers, column.of(&c.Policies[i]))
		}
	}
	return out
}

func gpuHours(a *compare.Assumptions, p *compare.Policy) float64 { return p.Report.Replicas * a.GPUs }

func dollars(a *compare.Assumptions, p *compare.Policy) float64 { return gpuHours(a, p) * a.GPUPrice }

// marks are the policies' letters in charts, in the order in which they are told.
var marks = []struct{ name, letter string }{ //nolint:gochecknoglobals // A constant table.
	{compare.HPA, "H"},
	{compare.BestTarget, "B"},
	{compare.Max15m, "M"},
	{compare.Offset, "O"},
	{compare.HoltWinters, "W"},
	{compare.ARIMA, "A"},
	{compare.Forewarm, "F"},
	{compare.Oracle, "*"},
}

// mark is a policy's letter.
func mark(name string) string {
	if i := known(name); i < len(marks) {
		return marks[i].letter
	}
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) {
		return "?"
	}
	return strings.ToUpper(string(first))
}

// class is a policy's colour in the page.
func class(name string) string { return "p" + strconv.Itoa(known(name)) }

// known is the place of a policy among those that have a mark, which are as many where it has none.
func known(name string) int {
	for i, m := range marks {
		if m.name == name {
			return i
		}
	}
	return len(marks)
}

// policy of a name; nil where it was not played.
func policy(c *compare.Comparison, name string) *compare.Policy {
	if i := slices.IndexFunc(c.Policies, func(p compare.Policy) bool { return p.Name == name }); i >= 0 {
		return &c.Policies[i]
	}
	return nil
}

// fact is an assumption by its name.
type fact struct{ Name, Value string }

// facts are all that was given or derived.
func facts(a *compare.Assumptions) []fact {
	capacityOf := humanize.Number(a.Capacity) + ", as given"
	if a.CapacityAssumed {
		capacityOf = humanize.Number(a.Capacity) + ", assumed: the autoscaler's target"
	}
	warmUp := "nothing"
	if a.WarmUp > 0 {
		warmUp = humanize.Span(a.WarmUp)
	}
	price := "none given, so no dollars are shown"
	if a.GPUPrice > 0 {
		price = "$" + decimal(a.GPUPrice, 2) + " an hour"
	}
	history := a.Start.UTC().Format("2 January 2006, 15:04 UTC") + ", " + humanize.Span(a.Duration) + " in steps of " +
		humanize.Span(a.Step)
	objective := "at most " + humanize.Asked(a.Objective) + " of the demand waits longer than " + humanize.Span(a.Wait)
	out := []fact{
		{"History", a.Source},
		{"From", history},
		{"Missing of it", humanize.Share(a.Gaps)},
		{"Played first, not counted", warmUp},
		{"Autoscaler", a.Autoscaler},
		{"Its target", humanize.Number(a.Target)},
		{"A replica sustains", capacityOf},
		{"Replicas", replicas(a)},
		{"Lead time", a.LeadTime},
		{"Objective", objective},
		{"GPUs of a replica", humanize.Number(a.GPUs)},
		{"Price of a GPU", price},
	}
	return out
}

func replicas(a *compare.Assumptions) string {
	return strconv.Itoa(int(a.MinReplicas)) + " to " + strconv.Itoa(int(a.MaxReplicas))
}
