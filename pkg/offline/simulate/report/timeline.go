package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// maxSlots limits the resolution of a timeline to about one slot per pixel.
const maxSlots = 1000

// timelineChart is the drawing of what happened under a policy.
type timelineChart struct {
	*chart.Chart

	Policy, Class string
}

// Caption of the drawing.
func (t timelineChart) Caption() string {
	switch t.Policy {
	case compare.HPA:
		return "Before: " + t.Policy + ", as configured"
	case compare.BestTarget:
		return "Best in hindsight: " + t.Policy
	}
	return t.Policy
}

// timelineCharts returns the drawings of all policies that have a timeline, on the same axes and in the order of the policies. The ids of
// the charts begin with id.
func timelineCharts(policies []compare.PolicyResult, id string) []timelineChart {
	strips := make([]chart.Strip, len(policies))
	for i := range policies {
		if len(policies[i].Timeline) >= 2 {
			strips[i] = stripOf(policies[i].Timeline)
		}
	}
	top := chart.Top(strips...)
	var out []timelineChart
	for i := range policies {
		p := &policies[i]
		if strips[i].Demand == nil {
			continue
		}
		drawn := strips[i].Chart(top, 220)
		drawn.ID = id + "-" + strconv.Itoa(i)
		drawn.Title = p.Name + ": demand, capacity and late demand"
		drawn.Description = fmt.Sprintf("%s of the demand was late, at a relative cost of %s. %s",
			humanize.Share(p.Report.LateShare()), formatDecimal(p.Report.RelativeCost(), 2), describeWorst(p.Timeline))
		out = append(out, timelineChart{drawn, p.Name, class(p.Name)})
	}
	return out
}

// describeWorst mentions the time with the most late demand.
func describeWorst(all []compare.Slot) string {
	worst := slices.MaxFunc(all, func(a, b compare.Slot) int { return cmp.Compare(a.Late, b.Late) })
	if worst.Late == 0 {
		return "No demand was late."
	}
	return fmt.Sprintf("The worst interval began at %s: %s of its demand was late.",
		worst.Start.UTC().Format("15:04 UTC on 2 January"), humanize.Share(worst.Late))
}

// stripOf converts a timeline to a strip.
func stripOf(course []compare.Slot) chart.Strip {
	all := resampled(course, maxSlots)
	return chart.Strip{
		Start: course[0].Start, Long: endOf(course).Sub(course[0].Start), Demand: valuesOf(all, demand),
		Late: valuesOf(all, late), Paid: valuesOf(all, func(s compare.Slot) float64 { return s.Paid }),
		Ready: valuesOf(all, func(s compare.Slot) float64 { return s.Ready }),
		Idle:  valuesOf(all, func(s compare.Slot) float64 { return s.Idle }),
	}
}

// resampled reduces a timeline to at most the given number of slots. All new slots combine the same number of neighbors, except one.
func resampled(course []compare.Slot, most int) []compare.Slot {
	if most < 1 || len(course) <= most {
		return course
	}
	out := make([]compare.Slot, most)
	for i := range out {
		out[i] = mergedSlot(course[i*len(course)/most : (i+1)*len(course)/most])
	}
	return out
}

// mergedSlot combines slots. Only the maximum demand of a slot is known, so it is the weight of the slot's late share.
func mergedSlot(part []compare.Slot) compare.Slot {
	nan := math.NaN()
	out := compare.Slot{Start: part[0].Start, Demand: nan, Ready: nan, Paid: nan}
	weight, late := 0.0, 0.0
	for _, s := range part {
		out.Idle = max(out.Idle, s.Idle)
		out.Demand, out.Paid = series.MaxKnown(out.Demand, s.Demand), series.MaxKnown(out.Paid, s.Paid)
		out.Ready = -series.MaxKnown(-out.Ready, -s.Ready)
		if s.Demand > 0 && !math.IsNaN(s.Late) {
			weight += s.Demand
			late += s.Demand * s.Late
		}
	}
	if weight > 0 {
		out.Late = late / weight
	}
	return out
}

// demand and late return the values that are drawn most often.
func demand(s compare.Slot) float64 { return s.Demand }

func late(s compare.Slot) float64 { return s.Late }

// valuesOf returns a value of every slot.
func valuesOf(course []compare.Slot, value func(compare.Slot) float64) []float64 {
	out := make([]float64, len(course))
	for i, s := range course {
		out[i] = value(s)
	}
	return out
}

// endOf returns the end of a timeline, whose slots have equal length.
func endOf(course []compare.Slot) time.Time {
	last := course[len(course)-1].Start
	if len(course) < 2 {
		return last
	}
	return last.Add(course[1].Start.Sub(course[0].Start))
}

// closeupLength is the length of the interval with the most late demand. Half of it is shown before and after, so
// that the rise is visible.
const closeupLength = 4 * time.Hour

// closeup is a part of two timelines: Forewarm's, and that of the previous autoscaler.
type closeup struct {
	When      string
	Timelines []timelineChart
}

// newCloseup returns the interval in which the most demand was late under both policies together; nil if the history is short or nothing
// was late.
func newCloseup(c *compare.Comparison) *closeup {
	before, ours := c.Find(compare.HPA), c.Find(compare.Forewarm)
	if before == nil || ours == nil || len(before.Timeline) != len(ours.Timeline) || len(ours.Timeline) < 2 {
		return nil
	}
	long := int(closeupLength / ours.Timeline[1].Start.Sub(ours.Timeline[0].Start))
	if long < 6 || len(ours.Timeline) < 8*long {
		return nil
	}
	from, some := latestStretch(before.Timeline, ours.Timeline, long)
	if !some {
		return nil
	}
	first, end := max(from-long/2, 0), min(from+long+long/2, len(ours.Timeline))
	parts := []compare.PolicyResult{*before, *ours}
	for i := range parts {
		parts[i].Timeline = parts[i].Timeline[first:end]
	}
	return &closeup{When: formatPeriod(parts[0].Timeline), Timelines: timelineCharts(parts, "closeup")}
}

// formatPeriod formats the beginning and the end of a timeline, with the day only once if both are on the same day.
func formatPeriod(all []compare.Slot) string {
	const day, clock = "2 January", "15:04"
	from, to := all[0].Start.UTC(), endOf(all).UTC()
	text := from.Format(day+" "+clock) + " to "
	if from.Format(day) != to.Format(day) {
		text += to.Format(day) + " "
	}
	return text + to.Format(clock) + " UTC"
}

// latestStretch returns where the interval of the given number of slots begins in which the most demand was late; false if nothing was
// late.
func latestStretch(a, b []compare.Slot, long int) (int, bool) {
	from, most := 0, 0.0
	for i := range len(a) - long + 1 {
		sum := 0.0
		for j := i; j < i+long; j++ {
			if v := a[j].Late*max(a[j].Demand, 0) + b[j].Late*max(b[j].Demand, 0); humanize.Known(v) {
				sum += v
			}
		}
		// A difference caused by rounding must not move the interval.
		if sum > most*(1+1e-9) {
			from, most = i, sum
		}
	}
	return from, most > 0
}
