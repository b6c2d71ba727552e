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

// course is the drawing of what happened under a policy.
type course struct {
	*chart.Chart

	Policy, Class string
}

// courses are the drawings of all policies that have a course, on the same axes and in their order. Their ids begin with a
// word of its own.
func courses(policies []compare.Policy, id string) []course {
	top := courseTop(policies)
	var out []course
	for i := range policies {
		p := &policies[i]
		if len(p.Course) < 2 {
			continue
		}
		drawn := draw(p.Course, top)
		drawn.ID = id + "-" + strconv.Itoa(i)
		drawn.Title = p.Name + ": demand, capacity and what was late"
		drawn.Description = fmt.Sprintf("Over the whole history %s of the demand was late; cost over demand %s. %s",
			humanize.Share(p.Report.LateShare()), decimal(p.Report.Cost(), 2), described(p.Course))
		out = append(out, course{drawn, p.Name, class(p.Name)})
	}
	return out
}

// described says when the most was late.
func described(all []compare.Slot) string {
	worst := slices.MaxFunc(all, func(a, b compare.Slot) int { return cmp.Compare(a.Late, b.Late) })
	if worst.Late == 0 {
		return "Nothing was late at any time."
	}
	return fmt.Sprintf("The worst stretch began at %s: %s of its demand was late.",
		worst.Start.UTC().Format("15:04 UTC on 2 January"), humanize.Share(worst.Late))
}

// courseTop is the same for all, so that drawings compare: the most that came or was paid for, but no more than thrice the
// demand.
func courseTop(policies []compare.Policy) float64 {
	most, paid := 0.0, 0.0
	for i := range policies {
		most = max(most, highest(of(policies[i].Course, demand)))
		paid = max(paid, highest(of(policies[i].Course, func(s compare.Slot) float64 { return s.Paid })))
	}
	top := 1.05 * max(most, min(paid, 3*most))
	if !(top > 0) || math.IsInf(top, 0) {
		return 1
	}
	return top
}

// draw draws a course below a top, at which what is more is cut.
func draw(course []compare.Slot, top float64) *chart.Chart {
	all, start := slots(course, mostSlots), course[0].Start
	long := max(ending(course).Sub(start).Seconds(), 1)
	c := &chart.Chart{
		X: chart.Times(start, 0, long), Y: chart.Numbers(0, top), Tall: 220, Across: float64(len(all)), Up: 1000,
	}
	steps := func(value func(compare.Slot) float64) []chart.Point {
		cut := func(s compare.Slot) float64 { return min(value(s), top) }
		return chart.Steps(of(all, cut), long/float64(len(all)))
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
	rug(c, all, long/float64(len(all)))
	return c
}

// rug marks the slots in which something was late, in three classes: under 1 %, under 10 %, more.
func rug(c *chart.Chart, all []compare.Slot, every float64) {
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
