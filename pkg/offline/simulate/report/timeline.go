package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// mostSlots is how finely a course is drawn: about a pixel each.
const mostSlots = 1000

// timelineChart is the drawing of what happened under a policy.
type timelineChart struct {
	*chart.Chart

	Policy, Class string
}

// timelineCharts are the drawings of all policies that have a course, on the same axes and in their order. Their ids begin with a
// word of its own.
func timelineCharts(policies []compare.PolicyResult, id string) []timelineChart {
	top := timelineTop(policies)
	var out []timelineChart
	for i := range policies {
		p := &policies[i]
		if len(p.Timeline) < 2 {
			continue
		}
		drawn := drawTimeline(p.Timeline, top)
		drawn.ID = id + "-" + strconv.Itoa(i)
		drawn.Title = p.Name + ": demand, capacity and late demand"
		drawn.Description = fmt.Sprintf("%s of the demand was late, at a relative cost of %s. %s",
			humanize.Share(p.Report.LateShare()), formatDecimal(p.Report.RelativeCost(), 2), describeWorst(p.Timeline))
		out = append(out, timelineChart{drawn, p.Name, class(p.Name)})
	}
	return out
}

// describeWorst names the time with the most late demand.
func describeWorst(all []compare.Slot) string {
	worst := slices.MaxFunc(all, func(a, b compare.Slot) int { return cmp.Compare(a.Late, b.Late) })
	if worst.Late == 0 {
		return "Nothing was late at any time."
	}
	return fmt.Sprintf("The worst interval began at %s: %s of its demand was late.",
		worst.Start.UTC().Format("15:04 UTC on 2 January"), humanize.Share(worst.Late))
}

// timelineTop is the same for all, so that charts compare: the most demand or replicas paid for, but at most three
// times the demand.
func timelineTop(policies []compare.PolicyResult) float64 {
	most, paid := 0.0, 0.0
	for i := range policies {
		most = max(most, highest(valuesOf(policies[i].Timeline, demand)))
		paid = max(paid, highest(valuesOf(policies[i].Timeline, func(s compare.Slot) float64 { return s.Paid })))
	}
	top := 1.05 * max(most, min(paid, 3*most))
	if !(top > 0) || math.IsInf(top, 0) {
		return 1
	}
	return top
}

// drawTimeline draws a course below a top, at which what is more is cut.
func drawTimeline(course []compare.Slot, top float64) *chart.Chart {
	all, start := resampled(course, mostSlots), course[0].Start
	long := max(endOf(course).Sub(start).Seconds(), 1)
	c := &chart.Chart{
		X: chart.TimeAxis(start, 0, long), Y: chart.NumberAxis(0, top), Tall: 220, Across: float64(len(all)), Up: 1000,
	}
	steps := func(value func(compare.Slot) float64) []chart.Point {
		cut := func(s compare.Slot) float64 { return min(value(s), top) }
		return chart.Steps(valuesOf(all, cut), long/float64(len(all)))
	}
	// only is a value of the slots in which there is something of another.
	only := func(some, value func(compare.Slot) float64) []chart.Point {
		return steps(func(s compare.Slot) float64 {
			if some(s) > 0 {
				return value(s)
			}
			return math.NaN()
		})
	}
	idle := func(s compare.Slot) float64 { return s.Idle }
	paid := func(s compare.Slot) float64 { return s.Paid }
	c.Area("demand", nil, steps(demand))
	c.Area("idle", only(idle, func(s compare.Slot) float64 { return s.Paid - s.Idle }), only(idle, paid))
	c.Area("late", only(late, func(s compare.Slot) float64 { return s.Demand * (1 - s.Late) }), only(late, demand))
	c.Line("paid", steps(paid)...)
	c.Line("ready", steps(func(s compare.Slot) float64 { return s.Ready })...)
	drawLateMarks(c, all, long/float64(len(all)))
	return c
}

// drawLateMarks marks the slots in which something was late, in three classes: under 1 %, under 10 %, more.
func drawLateMarks(c *chart.Chart, all []compare.Slot, every float64) {
	var grades [3][]float64
	for i, s := range all {
		at := (float64(i) + 0.5) * every
		switch {
		case s.Late >= 0.1:
			grades[2] = append(grades[2], at)
		case s.Late >= 0.01:
			grades[1] = append(grades[1], at)
		case s.Late > 0:
			grades[0] = append(grades[0], at)
		}
	}
	for i, at := range grades {
		c.Rug("mark m"+strconv.Itoa(i), at...)
	}
}
