package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/report"
)

// figures defines the figures of a comparison, each once for the text, the page and the JSON. Dollars are null and not shown
// without a price.
type figures struct {
	*compare.Assumptions

	// now is the cost of Forewarm, in dollars if there is a price, otherwise in GPU-hours. nowHours is its GPU-hours. Both are NaN if it was
	// not simulated.
	now, nowHours float64
}

func newFigures(c *compare.Comparison) figures {
	f := figures{&c.Assumptions, math.NaN(), math.NaN()}
	if ours := c.Find(compare.Forewarm); ours != nil {
		f.nowHours = f.gpuHours(ours)
		f.now = f.cost(f.nowHours, f.GPUPrice)
	}
	return f
}

func (f figures) gpuHours(p *compare.PolicyResult) float64 { return p.Report.ReplicaHours * f.GPUs }

// cost returns the cost of GPU-hours in dollars if there is a price, otherwise the GPU-hours.
func (f figures) cost(gpuHours, price float64) float64 {
	if f.GPUPrice > 0 {
		return gpuHours * price
	}
	return gpuHours
}

// headIf returns the heading of a figure that is shown only under a condition.
func headIf(shown bool, head string) string {
	if shown {
		return head
	}
	return ""
}

// nullUnless returns the number if given is above 0, otherwise null.
func nullUnless(given, number float64) any {
	if given > 0 {
		return number
	}
	return nil
}

func (f figures) dollars(r *report.Record, gpuHours, price float64) *report.Figure {
	dollars := gpuHours * price
	return r.Add("dollars", headIf(f.GPUPrice > 0, "$"), nullUnless(price, dollars), humanize.Amount(dollars))
}

// limitedFraction returns the name of the share that the objective limits.
func (f figures) limitedFraction() string {
	if f.BadHours {
		return "badHoursFraction"
	}
	return "lateFraction"
}

// limited adds the share that the objective limits, and whether it meets the objective.
func (f figures) limited(r *report.Record, share float64, meets bool) {
	r.Add(f.limitedFraction(), f.LimitedName(), share, formatLimited(share, meets))
	r.Data("meetsObjective", meets)
}

// formatLimited formats the share that the objective limits, and marks it if it misses the objective.
func formatLimited(share float64, meets bool) string {
	if meets {
		return humanize.Share(share)
	}
	return humanize.Share(share) + " misses"
}

func (f figures) policy(r *report.Record, p *compare.PolicyResult) {
	name := r.Text("name", "policy", p.Name)
	name.HTML = f.label(p)
	if p.Hindsight {
		name.Mark = "¹"
	}
	r.Number("target", "target", p.Target, humanize.Number).Means("Target of the HPA, in the metric's unit")
	r.Number("gpuHours", "GPU\nhours", f.gpuHours(p), humanize.Amount).Means("GPU-hours paid for")
	f.dollars(r, f.gpuHours(p), f.GPUPrice).Means("Price of the GPU-hours")
	limited := r.Number("lateFraction", "late", p.Report.LateShare(), humanize.Share)
	limited.Means("Share of the demand that waited longer than the objective allows")
	bad := r.Number("badHoursFraction", headIf(f.BadHours, "bad\nhours"), p.Report.BadHours.Share(), humanize.Share)
	bad.Means("Share of the demand that arrived in hours in which more than a tenth of the demand was late")
	if f.BadHours {
		limited = bad
	}
	limited.Mark = " "
	if !p.MeetsObjective {
		limited.Mark = "!"
	}
	r.Data("judgedHours", p.Report.BadHours.Hours)
	r.Data("badHours", report.Records(p.Report.BadHours.List, func(r *report.Record, h *sim.BadHour) {
		r.Data("start", h.Start)
		r.Data("lateFraction", h.Late/h.Arrived)
		r.Data("demandFraction", h.Arrived/p.Report.BadHours.Arrived)
	}))
	r.Number("droppedFraction", "dropped", p.Report.DroppedShare(), humanize.Share).
		Means("Share of the demand that was dropped")
	r.Data("missedFraction", p.Report.MissedShare())
	r.Add("coldStarts", "cold\nstarts", p.Report.ColdStarts, strconv.Itoa(p.Report.ColdStarts)).
		Means("How often demand arrived while no replica was ready")
	churn, cost := p.Report.ChurnPerHour(), p.Report.RelativeCost()
	r.Add("churnPerHour", "churn\n/h", churn, formatDecimal(churn, 1)).
		Means("Replicas started or stopped per hour")
	r.Add("earlySeconds", "min\nearly", p.MeanEarly, formatMinutes(p.MeanEarly)).
		Means("Mean time, in minutes, from when a replica was ready to when the demand needed it")
	r.Add("lateSeconds", "min\nlate", p.MeanLate, formatMinutes(p.MeanLate)).
		Means("Mean time, in minutes, from when the demand needed a replica to when it was ready")
	r.Data("peakReplicas", p.Report.Peak)
	r.Data("hindsight", p.Hindsight)
	r.Data("meetsObjective", p.MeetsObjective)
	r.Add("relativeCost", "rel.\ncost", cost, formatDecimal(cost, 2)).
		Means("Relative cost: the GPU-hours paid for, divided by the GPU-hours that the demand itself needs")
	r.Data("frontier", report.Records(p.Frontier, func(r *report.Record, at *compare.Point) {
		r.Data("setting", at.Setting)
		r.Data(f.limitedFraction(), at.Late)
		r.Data("relativeCost", at.RelativeCost)
	}))
}

// label returns a policy's name for the page, with its badge and with the information that a terminal shows as marks.
func (f figures) label(p *compare.PolicyResult) template.HTML {
	text := fmt.Sprintf(`<b class="badge %s" aria-hidden="true"><span>%s</span></b>%s`, class(p.Name), mark(p.Name),
		template.HTMLEscapeString(p.Name))
	if p.Hindsight {
		text += ` <small class="tag">hindsight</small>`
	}
	if !p.MeetsObjective {
		text += ` <small class="tag poor">misses ` + humanize.ShareAsWritten(f.Objective) + `</small>`
	}
	return template.HTML(text) // The only text from outside is escaped.
}

// marks has the policies' letters in charts, in the order of the policies.
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

// mark returns a policy's letter.
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

// class returns the CSS class with a policy's color on the page.
func class(name string) string { return "p" + strconv.Itoa(markIndex(name)) }

// markIndex returns the index of a policy in marks, or the length of marks if it has none.
func markIndex(name string) int {
	for i, m := range marks {
		if m.name == name {
			return i
		}
	}
	return len(marks)
}

// assumptions returns all assumptions, given or derived.
func (f figures) assumptions() *report.Record {
	capacityOf := " (given)"
	if f.CapacityAssumed {
		capacityOf = " (assumed: the autoscaler's target)"
	}
	warmUp := "none"
	if f.WarmUp > 0 {
		warmUp = humanize.Span(f.WarmUp)
	}
	price := "not given, so costs are not shown in dollars"
	if f.GPUPrice > 0 {
		price = "$" + formatDecimal(f.GPUPrice, 2) + " an hour"
	}
	var r report.Record
	r.Text("source", "History", f.Source)
	r.Add("start", "From", f.Start.UTC(), f.Start.UTC().Format("2 January 2006, 15:04 UTC")+", "+
		humanize.Span(f.Duration)+" in steps of "+humanize.Span(f.Step))
	r.Data("durationSeconds", f.Duration)
	r.Data("stepSeconds", f.Step)
	r.Number("gaps", "Missing", f.Gaps, humanize.Share)
	r.Add("warmUpSeconds", "Warm-up (not counted)", f.WarmUp, warmUp)
	r.Text("autoscaler", "Autoscaler", f.Autoscaler)
	r.Number("target", "Target", f.Target, humanize.Number)
	r.Add("capacity", "Replica capacity", f.Capacity, humanize.Number(f.Capacity)+capacityOf)
	r.Data("capacityAssumed", f.CapacityAssumed)
	r.Add("minReplicas", "Replicas", f.MinReplicas, f.replicas())
	r.Data("maxReplicas", f.MaxReplicas)
	r.Text("leadTime", "Lead time", f.LeadTime)
	r.Add("objective", "Objective", f.Objective, f.objective())
	r.Data("objectiveLimits", f.limitedFraction())
	r.Data("waitSeconds", f.Wait)
	r.Data("deferrable", f.Deferrable)
	r.Data("deadlineSeconds", f.Deadline)
	r.Number("gpusPerReplica", "GPUs per replica", f.GPUs, humanize.Number)
	r.Add("gpuPrice", "GPU price", nullUnless(f.GPUPrice, f.GPUPrice), price)
	return &r
}

// objective describes the objective.
func (f figures) objective() string {
	text := objective.Goal{Late: f.Objective, BadHours: f.BadHours}.Sentence(f.Wait, 0)
	if f.Deferrable > 0 {
		text += "; " + humanize.ShareAsWritten(f.Deferrable) + " of the demand may wait " + humanize.Span(f.Deadline)
	}
	return text
}

func (f figures) replicas() string {
	return strconv.Itoa(int(f.MinReplicas)) + " to " + strconv.Itoa(int(f.MaxReplicas))
}

// describeCapacity describes in one line the assumption on which all figures depend.
func describeCapacity(a *compare.Assumptions) string {
	if a.CapacityAssumed {
		return "No replica capacity was given. Forewarm assumes that a replica sustains " + humanize.Number(
			a.Capacity,
		) +
			", the autoscaler's target. All figures depend on this assumption."
	}
	return "A replica sustains " + humanize.Number(a.Capacity) + " (given). The autoscaler's target is " +
		humanize.Number(a.Target) + "."
}

// formatMinutes formats minutes with one decimal; a dash if they are unknown.
func formatMinutes(d time.Duration) string {
	if d == 0 {
		return humanize.Unknown
	}
	return formatDecimal(d.Minutes(), 1)
}

// formatDecimal formats a number with the given number of decimals.
func formatDecimal(v float64, digits int) string {
	if !humanize.Known(v) {
		return humanize.Unknown
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// formatDates returns the first and the last day of a history.
func formatDates(a *compare.Assumptions) string {
	const day = "2 January 2006"
	return a.Start.UTC().Format(day) + " to " + a.Start.Add(a.Duration).UTC().Format(day)
}

// JSON is every number of a comparison by its name. Answers that were not requested are left out.
func JSON(c *compare.Comparison) *report.Record {
	f := newFigures(c)
	var r report.Record
	r.Data("assumptions", f.assumptions())
	r.Data("comparison", judged(c.Judged))
	r.Data("verdict", c.Verdict)
	r.Data("noVerdict", c.NoVerdict)
	r.Data("doubt", c.Doubt)
	r.Data("notes", append([]string{}, c.Notes...))
	r.Data("partial", c.Partial)
	r.Data("policies", report.Records(c.Policies, f.policy))
	if len(c.Scenarios) > 0 {
		r.Data("scenarios", f.allScenarios(c))
	}
	if c.WarmPool != nil {
		r.Data("warmPool", f.pool(c.WarmPool))
	}
	if c.Forecasts != nil {
		r.Data("forecasts", forecastsRecord(c.Forecasts))
	}
	return &r
}

// judged returns the comparison of Forewarm and the HPA at equal reliability; null if one of them was not simulated.
func judged(v *verdict.Verdict) any {
	if v == nil {
		return nil
	}
	var r report.Record
	r.Data("verdict", v.Word)
	r.Data("savedFraction", v.Saved)
	r.Data("savedLow", v.Low)
	r.Data("savedHigh", v.High)
	r.Data("equallyReliable", v.Equal)
	r.Data("objective", v.Forewarm.Setting)
	r.Data("target", v.HPA.Setting)
	r.Data("gpuHours", v.Forewarm.Total())
	r.Data("hpaGpuHours", v.HPA.Total())
	return &r
}
