package report

import (
	"slices"
	"strconv"
	"strings"
	"time"
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
	// Misses is true if the objective is missed, Hindsight if the target was chosen afterwards.
	Misses, Hindsight bool
}

// column is a number of the table: its heading in two lines, the same in words, and what it is of a policy.
type column struct {
	Above, Below string
	Title        string
	of           func(*compare.PolicyResult) string
}

// columns are those of a comparison; the dollars only where a price was given.
func columns(a *compare.Assumptions) []column {
	hours := func(p *compare.PolicyResult) string { return humanize.Amount(gpuHours(a, p)) }
	cost := func(p *compare.PolicyResult) string { return humanize.Amount(dollars(a, p)) }
	late := func(p *compare.PolicyResult) string { return humanize.Share(p.Report.LateShare()) }
	badHours := func(p *compare.PolicyResult) string { return humanize.Share(p.Report.BadHours.Share()) }
	unserved := func(p *compare.PolicyResult) string { return humanize.Share(p.Report.DroppedShare()) }
	target := func(p *compare.PolicyResult) string { return humanize.Number(p.Target) }
	cold := func(p *compare.PolicyResult) string { return strconv.Itoa(p.Report.ColdStarts) }
	churn := func(p *compare.PolicyResult) string { return formatDecimal(p.Report.ChurnPerHour(), 1) }
	early := func(p *compare.PolicyResult) string { return formatMinutes(p.MeanEarly) }
	lateBy := func(p *compare.PolicyResult) string { return formatMinutes(p.MeanLate) }
	ratio := func(p *compare.PolicyResult) string { return formatDecimal(p.Report.RelativeCost(), 2) }
	all := []column{
		{"", "target", "Target of the HPA, in the metric's unit", target},
		{"GPU", "hours", "GPU-hours paid for", hours},
		{"", "$", "Price of the GPU-hours", cost},
		{"", "late", "Share of the demand that waited longer than the objective allows", late},
		{
			"bad",
			"hours",
			"Share of the demand that arrived in hours in which more than a tenth of the demand was late",
			badHours,
		},
		{"", "dropped", "Share of the demand that was dropped", unserved},
		{"cold", "starts", "Times that demand arrived and no replica was ready", cold},
		{"churn", "/h", "Replicas started or stopped in an hour", churn},
		{"min", "early", "Minutes that replicas were ready before the demand needed them", early},
		{"min", "late", "Minutes that replicas were ready after the demand needed them", lateBy},
		{"rel.", "cost", "Relative cost: GPU-hours over the GPU-hours of the demand itself", ratio},
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return a.GPUPrice == 0 && c.Below == "$" || !a.BadHours && c.Above == "bad"
	})
}

// limitedColumn is the index of the column that the objective limits.
func limitedColumn(a *compare.Assumptions, of []column) int {
	above, below := "", "late"
	if a.BadHours {
		above, below = "bad", "hours"
	}
	return slices.IndexFunc(of, func(c column) bool { return c.Above == above && c.Below == below })
}

func newRow(p *compare.PolicyResult) row {
	return row{
		Mark: mark(p.Name), Class: class(p.Name), Policy: p.Name, Misses: !p.MeetsObjective, Hindsight: p.Hindsight,
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

func gpuHours(a *compare.Assumptions, p *compare.PolicyResult) float64 {
	return p.Report.ReplicaHours * a.GPUs
}

func dollars(a *compare.Assumptions, p *compare.PolicyResult) float64 {
	return gpuHours(a, p) * a.GPUPrice
}

// marks are the policies' letters in charts, in their order.
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
	if i := markIndex(name); i < len(marks) {
		return marks[i].letter
	}
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) {
		return "?"
	}
	return strings.ToUpper(string(first))
}

// class is a policy's colour in the page.
func class(name string) string { return "p" + strconv.Itoa(markIndex(name)) }

// markIndex is the place of a policy among those that have a mark, which are as many where it has none.
func markIndex(name string) int {
	for i, m := range marks {
		if m.name == name {
			return i
		}
	}
	return len(marks)
}

// fact is an assumption by its name.
type fact struct{ Name, Value string }

// facts are all that was given or derived.
func facts(a *compare.Assumptions) []fact {
	capacityOf := humanize.Number(a.Capacity) + " (given)"
	if a.CapacityAssumed {
		capacityOf = humanize.Number(a.Capacity) + " (assumed: the autoscaler's target)"
	}
	warmUp := "none"
	if a.WarmUp > 0 {
		warmUp = humanize.Span(a.WarmUp)
	}
	price := "not given, so no dollars are shown"
	if a.GPUPrice > 0 {
		price = "$" + formatDecimal(a.GPUPrice, 2) + " an hour"
	}
	history := a.Start.UTC().Format("2 January 2006, 15:04 UTC") + ", " + humanize.Span(a.Duration) + " in steps of " +
		humanize.Span(a.Step)
	objective := "waits longer than "
	if a.BadHours {
		objective = "arrives in bad hours: UTC clock hours in which more than a tenth of the demand waits longer than "
	}
	objective = "at most " + humanize.ShareAsWritten(
		a.Objective,
	) + " of the demand " + objective + humanize.Span(
		a.Wait,
	)
	if a.Deferrable > 0 {
		objective += "; " + humanize.ShareAsWritten(a.Deferrable) + " of it may wait " + humanize.Span(a.Deadline)
	}
	return []fact{
		{"History", a.Source},
		{"From", history},
		{"Missing", humanize.Share(a.Gaps)},
		{"Warm-up (not counted)", warmUp},
		{"Autoscaler", a.Autoscaler},
		{"Target", humanize.Number(a.Target)},
		{"Replica capacity", capacityOf},
		{"Replicas", replicas(a)},
		{"Lead time", a.LeadTime},
		{"Objective", objective},
		{"GPUs per replica", humanize.Number(a.GPUs)},
		{"GPU price", price},
	}
}

func replicas(a *compare.Assumptions) string {
	return strconv.Itoa(int(a.MinReplicas)) + " to " + strconv.Itoa(int(a.MaxReplicas))
}

// describeCapacity is the assumption that all figures rest on, in a line.
func describeCapacity(a *compare.Assumptions) string {
	if a.CapacityAssumed {
		return "No replica capacity was given. A replica is assumed to sustain " + humanize.Number(a.Capacity) +
			", the autoscaler's target. All figures depend on it."
	}
	return "A replica sustains " + humanize.Number(a.Capacity) + " (given). The autoscaler's target is " +
		humanize.Number(a.Target) + "."
}

// formatMinutes has a tenth of one; a dash where none are known.
func formatMinutes(d time.Duration) string {
	if d == 0 {
		return humanize.Unknown
	}
	return strconv.FormatFloat(d.Minutes(), 'f', 1, 64)
}

// formatDecimal is a number with so many digits after its point.
func formatDecimal(v float64, digits int) string {
	if !humanize.Known(v) {
		return humanize.Unknown
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// formatDates is from the first day of a history to its last.
func formatDates(a *compare.Assumptions) string {
	const day = "2 January 2006"
	return a.Start.UTC().Format(day) + " to " + a.Start.Add(a.Duration).UTC().Format(day)
}
