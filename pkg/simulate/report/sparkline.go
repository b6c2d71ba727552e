package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/simulate/compare"
)

// named is what the names take to the left of the charts.
const named = 17

// mostColumns bounds the charts, whatever the terminal.
const mostColumns = 120

// writeSparklines draws the demand over time, and under it what was late of it by policy, a bar for each stretch.
func writeSparklines(out *bytes.Buffer, c *compare.Comparison, width int) {
	across := min(width, mostColumns) - named
	first := longest(c.Policies)
	if first == nil {
		return
	}
	course := slots(first.Course, across)
	fmt.Fprintf(out, "\nOver time, from %s to %s UTC\n", first.Course[0].Start.UTC().Format("Mon 2 Jan 15:04"),
		ending(first.Course).UTC().Format("Mon 2 Jan 15:04"))
	top := highest(course, func(s compare.Slot) float64 { return s.Demand })
	fmt.Fprintf(out, "%-*s%s\n", named, "demand", bars(course, top, func(s compare.Slot) float64 { return s.Demand }))
	lateOf := func(s compare.Slot) float64 { return s.Late }
	worst := 0.0
	for i := range c.Policies {
		worst = max(worst, highest(slots(c.Policies[i].Course, across), lateOf))
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		if len(p.Course) > 0 {
			fmt.Fprintf(out, "%-*s%s\n", named, plain(p.Name), bars(slots(p.Course, across), worst, lateOf))
		}
	}
	paragraph(out, fmt.Sprintf("A full bar is a demand of %s replicas; of a policy, %s of a stretch's demand late.",
		figures.Amount(top), figures.Share(worst)), width)
}

// longest is a policy whose course can stand for the time of all; nil where none has one.
func longest(policies []compare.Policy) *compare.Policy {
	var out *compare.Policy
	for i := range policies {
		if n := len(policies[i].Course); n > 0 && (out == nil || n > len(out.Course)) {
			out = &policies[i]
		}
	}
	return out
}

// bars are a character for each slot: a dot for none, and an eighth of a block at least for any.
func bars(course []compare.Slot, top float64, of func(compare.Slot) float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var out strings.Builder
	for _, s := range course {
		v := of(s)
		switch {
		case !figures.Known(v):
			out.WriteByte(' ')
		case !(v > 0) || !(top > 0):
			out.WriteRune('·')
		default:
			out.WriteRune(blocks[min(int(v/top*float64(len(blocks))), len(blocks)-1)])
		}
	}
	return out.String()
}

func highest(course []compare.Slot, of func(compare.Slot) float64) float64 {
	top := 0.0
	for _, s := range course {
		if v := of(s); v > top && figures.Known(v) {
			top = v
		}
	}
	return top
}
