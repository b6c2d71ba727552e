package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// mostMean and mostTrace bound forewarm's cost at equal lateness over that of an earlier run: in the geometric mean, and on
// any trace.
const mostMean, mostTrace = 1.01, 1.03

// comparison is forewarm's cost at one lateness over that of an earlier run.
type comparison struct {
	setup setup
	late  float64
	// over is the cost on each trace over that before; NaN where one of the runs was always later, or never so late.
	over map[string]float64
	// mean is the geometric mean of those that are known, families alike; one is that of one setting for all traces.
	mean, one float64
	// outside says of each trace that is not known why, and what is known next to it.
	outside []string
}

// comparisons are at .5 and 1 % late, of every setup that both runs have but the first day.
func comparisons(before, now record) []comparison {
	var out []comparison
	for _, s := range now.setups() {
		a, b := before.of(s, "forewarm"), now.of(s, "forewarm")
		if s.firstDay || len(a) == 0 || len(b) == 0 {
			continue
		}
		for _, late := range matched()[:2] {
			out = append(out, compared(s, late, a, b))
		}
	}
	return out
}

// compared compares the traces that both runs have.
func compared(s setup, late float64, before, now record) comparison {
	c := comparison{setup: s, late: late, over: map[string]float64{}}
	var known record
	var over []float64
	for _, trace := range now.traces() {
		a, b := before.curve(trace), now.curve(trace)
		if len(a) == 0 {
			continue
		}
		v := within(b, late) / within(a, late)
		c.over[trace] = v
		if math.IsNaN(v) {
			c.outside = append(c.outside, fmt.Sprintf("%s, %s, %g %%: %s", trace, s, 100*late, nearby(a, b, late)))
			continue
		}
		over = append(over, v)
		known = append(known, now[slices.IndexFunc(now, func(l line) bool { return l.Trace == trace })])
	}
	c.mean = geometric(over, known.weights())
	both := func(l line) bool { _, ok := c.over[l.Trace]; return ok }
	c.one = within(now.where(both).front(), late) / within(before.where(both).front(), late)
	return c
}

// within is the cost at a lateness; NaN where it is out of the range that was swept, on either side.
func within(points []point, late float64) float64 {
	if !slices.ContainsFunc(points, func(p point) bool { return p.late >= late }) {
		return math.NaN()
	}
	return costAt(points, late)
}

// nearby says what was swept in two runs, and the cost of the later over that of the earlier at the lateness next to one
// that both were.
func nearby(before, now []point, late float64) string {
	least, most := reach(before)
	from, to := reach(now)
	next := min(max(late, least, from), most, to)
	return fmt.Sprintf("late %.2f to %.2f %% before, %.2f to %.2f %% now; at %.2f %% %s",
		100*least, 100*most, 100*from, 100*to, 100*next, ratio(within(now, next)/within(before, next)))
}

// reach is the range of lateness that was swept.
func reach(points []point) (least, most float64) {
	least = math.Inf(1)
	for _, p := range points {
		least, most = min(least, p.late), max(most, p.late)
	}
	return least, most
}

// compare puts forewarm's cost at equal lateness beside that of an earlier run, and says whether it rose by too much.
func (r record) compare(before record, text *strings.Builder) {
	all := comparisons(before, r)
	if len(all) == 0 {
		text.WriteString("\nThe earlier run has nothing of forewarm to compare with.\n")
		return
	}
	text.WriteString("\n**Forewarm's cost over that of the earlier run**, at equal lateness, each trace with its own " +
		"setting\n\n| |")
	for _, c := range all {
		fmt.Fprintf(text, " %s: %g %% |", c.setup, 100*c.late)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(all)) + "\n")
	row := func(name string, most float64, of func(comparison) float64) {
		fmt.Fprintf(text, "| %s |", name)
		for _, c := range all {
			text.WriteString(" " + marked(of(c), most) + " |")
		}
		text.WriteString("\n")
	}
	for _, trace := range r.traces() {
		row(trace, mostTrace, func(c comparison) float64 { return c.on(trace) })
	}
	row("geometric mean, families alike", mostMean, func(c comparison) float64 { return c.mean })
	row("one setting for all traces", math.Inf(1), func(c comparison) float64 { return c.one })
	verdict(all, text)
}

// on is the figure of a trace; NaN where there is none.
func (c comparison) on(trace string) float64 {
	if v, ok := c.over[trace]; ok {
		return v
	}
	return math.NaN()
}

// marked is a ratio, set off where it is over a bound.
func marked(v, most float64) string {
	if v > most {
		return "**" + ratio(v) + "**"
	}
	return ratio(v)
}

// verdict says where the cost rose by too much, and what could not be compared.
func verdict(all []comparison, text *strings.Builder) {
	held, outside := true, []string(nil)
	for _, c := range all {
		held = held && !(c.mean > mostMean)
		for _, v := range c.over {
			held = held && !(v > mostTrace)
		}
		outside = append(outside, c.outside...)
	}
	word := "**missed**"
	if held {
		word = "met"
	}
	fmt.Fprintf(text, "\nThe cost rises by at most %.0f %% in the mean and %.0f %% on any trace: %s.\n",
		100*(mostMean-1), 100*(mostTrace-1), word)
	if len(outside) > 0 {
		text.WriteString(
			"\nOut of the swept range, in no mean and held to nothing:\n\n- " + strings.Join(outside, "\n- ") + "\n",
		)
	}
}
