package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/simulate/compare"
	"github.com/forewarm/forewarm/pkg/ticks"
)

// mostSlots is how finely a course is drawn: about a pixel each.
const mostSlots = 1000

// course is the drawing of what happened under a policy. Its paths are in slots from the left and in thousandths of the
// height from the top; the page stretches them to its width.
type course struct {
	ID, Policy, Class, Title, Description string
	// Slots is how many there are.
	Slots int
	// Demand and LateArea are filled, Ready and Paid are lines.
	Demand, LateArea, Ready, Paid string
	// Idle is filled: what of the paid a warm pool held, and no replica had taken.
	Idle string
	// Marks are the slots in which something was late, in three classes: under 1 %, under 10 %, more.
	Marks  [3]string
	Times  []label
	Levels []label
}

// label is a mark on an axis: At is a share of the width, or pixels from the top, as an attribute of SVG. Minor ones are
// left out where there is no room.
type label struct {
	At, Text string
	Minor    bool
}

// tall is the height of a drawing in its own units; in the page it is courseTall pixels below a margin.
const (
	tall       = 1000
	courseTall = 220
	margin     = 12
)

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
		drawn := draw(slots(p.Course, mostSlots), top)
		drawn.ID, drawn.Policy, drawn.Class = id+"-"+strconv.Itoa(i), plain(p.Name), class(p.Name)
		drawn.Times = times(p.Course[0].Start, ending(p.Course))
		drawn.Title = plain(p.Name) + ": demand, capacity and what was late"
		drawn.Description = fmt.Sprintf(
			"Over the whole history %s of the demand was late; cost over demand %s. %s",
			figures.Share(p.Report.LateShare()), decimal(p.Report.Cost(), 2), described(p.Course))
		out = append(out, drawn)
	}
	return out
}

// described says when the most was late.
func described(all []compare.Slot) string {
	worst := all[0]
	for _, s := range all {
		if s.Late > worst.Late {
			worst = s
		}
	}
	if worst.Late == 0 {
		return "Nothing was late at any time."
	}
	return fmt.Sprintf("The worst stretch began at %s: %s of its demand was late.",
		worst.Start.UTC().Format("15:04 UTC on 2 January"), figures.Share(worst.Late))
}

// courseTop is the same for all, so that drawings compare: the most that came or was paid for, but no more than thrice the
// demand.
func courseTop(policies []compare.Policy) float64 {
	demand, paid := 0.0, 0.0
	for i := range policies {
		demand = max(demand, highest(policies[i].Course, func(s compare.Slot) float64 { return s.Demand }))
		paid = max(paid, highest(policies[i].Course, func(s compare.Slot) float64 { return s.Paid }))
	}
	top := 1.05 * max(demand, min(paid, 3*demand))
	if !(top > 0) || math.IsInf(top, 0) {
		return 1
	}
	return top
}

func draw(all []compare.Slot, top float64) course {
	of := func(value func(compare.Slot) float64) []int {
		out := make([]int, len(all))
		for i, s := range all {
			out[i] = height(value(s), top)
		}
		return out
	}
	demand := of(func(s compare.Slot) float64 { return s.Demand })
	out := course{
		Slots:    len(all),
		Demand:   area(demand),
		Ready:    steps(of(func(s compare.Slot) float64 { return s.Ready })),
		Paid:     steps(of(func(s compare.Slot) float64 { return s.Paid })),
		LateArea: lateArea(all, top),
		Idle:     idleArea(all, top),
		Levels:   levels(top),
	}
	for i, s := range all {
		if s.Late > 0 {
			grade := 0
			if s.Late >= 0.1 {
				grade = 2
			} else if s.Late >= 0.01 {
				grade = 1
			}
			out.Marks[grade] += fmt.Sprintf("M%d.5 0v1", i)
		}
	}
	return out
}

// missing is the height of what is not known.
const missing = -1

// height from the top, cut at it.
func height(v, top float64) int {
	if math.IsNaN(v) {
		return missing
	}
	return tall - int(math.Round(min(max(v/top, 0), 1)*tall))
}

// steps is a line that keeps each height for its slot and breaks where there is none.
func steps(heights []int) string {
	var out strings.Builder
	before := missing
	for i, y := range heights {
		switch {
		case y == missing:
		case before == missing:
			fmt.Fprintf(&out, "M%d %dH%d", i, y, i+1)
		case y == before:
			fmt.Fprintf(&out, "H%d", i+1)
		default:
			fmt.Fprintf(&out, "V%dH%d", y, i+1)
		}
		before = y
	}
	return out.String()
}

// area is what lies under such a line.
func area(heights []int) string {
	var out strings.Builder
	for i := 0; i < len(heights); i++ {
		if heights[i] == missing {
			continue
		}
		from := i
		fmt.Fprintf(&out, "M%d %d", from, tall)
		for ; i < len(heights) && heights[i] != missing; i++ {
			fmt.Fprintf(&out, "V%dH%d", heights[i], i+1)
		}
		fmt.Fprintf(&out, "V%dz", tall)
	}
	return out.String()
}

// lateArea is the part of each slot's demand that was late, from the top of the demand down.
func lateArea(all []compare.Slot, top float64) string {
	var out strings.Builder
	for i, s := range all {
		if s.Late > 0 && s.Demand > 0 {
			fmt.Fprintf(&out, "M%d %dh1V%dh-1z", i, height(s.Demand, top), height(s.Demand*(1-s.Late), top))
		}
	}
	return out.String()
}

// idleArea is the part of each slot's capacity that stood idle, from the top of what was paid for down.
func idleArea(all []compare.Slot, top float64) string {
	var out strings.Builder
	for i, s := range all {
		if s.Idle > 0 {
			fmt.Fprintf(&out, "M%d %dh1V%dh-1z", i, height(s.Paid, top), height(s.Paid-s.Idle, top))
		}
	}
	return out.String()
}

// times are the marks below a course.
func times(from, to time.Time) []label {
	long := to.Sub(from).Seconds()
	all := ticks.Clock(from, 0, long)
	dates := 0
	for _, t := range all {
		if date(t) {
			dates++
		}
	}
	var out []label
	for i, t := range all {
		at := t.Value / long
		if at < 0.02 || at > 0.96 {
			continue
		}
		minor := i%3 != 1
		if dates > 1 && dates < len(all) {
			minor = !date(t)
		}
		out = append(out, label{At: hundredths(at), Text: t.Label, Minor: minor})
	}
	return out
}

// date says that a mark is a midnight.
func date(t ticks.Tick) bool { return !strings.Contains(t.Label, ":") }

// levels are the replicas on the left of a course, without its zero.
func levels(top float64) []label {
	var out []label
	for i, t := range ticks.Round(0, top) {
		if t.Value > 0 && t.Value < 0.97*top {
			out = append(out, label{At: pixels(courseTall, t.Value/top), Text: t.Label, Minor: i%2 == 1})
		}
	}
	return out
}

// hundredths is a part of the width, as an attribute of SVG.
func hundredths(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) + "%" }

// pixels from the top of a drawing of a height to a part of it, counted from its bottom.
func pixels(of, v float64) string { return strconv.FormatFloat(margin+of*(1-v), 'f', 1, 64) }
