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
	// over is the ratio of the costs on each trace; NaN if one of the runs did not reach the lateness from both sides.
	over map[string]float64
	// mean is the geometric mean of the known ratios, with equal weights of families; one is the ratio of one setting for all
	// traces.
	mean, one float64
	// outside lists the traces without a ratio, with the nearest that is known.
	outside []string
}

// comparisons are at .5 and 1 % late, of every setup that both runs have, without the first day.
func comparisons(before, now record) []comparison {
	var out []comparison
	for _, s := range now.setups() {
		a, b := before.of(s, "forewarm"), now.of(s, "forewarm")
		if s.firstDay || len(a) == 0 || len(b) == 0 {
			continue
		}
		for _, late := range matchedLateness()[:2] {
			out = append(out, compareAt(s, late, a, b))
		}
	}
	return out
}

// compareAt compares the traces that both runs have.
func compareAt(s setup, late float64, before, now record) comparison {
	c := comparison{setup: s, late: late, over: map[string]float64{}}
	var known record
	var over []float64
	for _, trace := range now.traces() {
		a, b := before.curve(trace), now.curve(trace)
		if len(a) == 0 {
			continue
		}
		v := costWithin(b, late) / costWithin(a, late)
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
	c.one = costWithin(now.where(both).front(), late) / costWithin(before.where(both).front(), late)
	return c
}

// costWithin is the cost at a lateness; NaN outside the range that was swept.
func costWithin(points []point, late float64) float64 {
	if !slices.ContainsFunc(points, func(p point) bool { return p.late >= late }) {
		return math.NaN()
	}
	return costAt(points, late)
}

// nearby is the range that each run swept, and the ratio of the costs at the nearest lateness that both reached.
func nearby(before, now []point, late float64) string {
	least, most := latenessRange(before)
	from, to := latenessRange(now)
	next := min(max(late, least, from), most, to)
	return fmt.Sprintf("late %.2f to %.2f %% before, %.2f to %.2f %% now; at %.2f %% %s",
		100*least, 100*most, 100*from, 100*to, 100*next, formatRatio(costWithin(now, next)/costWithin(before, next)))
}

// latenessRange is the range of lateness that was swept.
func latenessRange(points []point) (least, most float64) {
	least = math.Inf(1)
	for _, p := range points {
		least, most = min(least, p.late), max(most, p.late)
	}
	return least, most
}

// compare writes Forewarm's cost at equal lateness over that of an earlier run, and whether it rose by too much.
func (r record) compare(before record, text *strings.Builder) {
	all := comparisons(before, r)
	if len(all) == 0 {
		text.WriteString("\nThe earlier run has no lines of forewarm: there is nothing to compare.\n")
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
			text.WriteString(" " + formatBounded(of(c), most) + " |")
		}
		text.WriteString("\n")
	}
	for _, trace := range r.traces() {
		row(trace, mostTrace, func(c comparison) float64 { return c.on(trace) })
	}
	row("geometric mean, equal weights of families", mostMean, func(c comparison) float64 { return c.mean })
	row("one setting for all traces", math.Inf(1), func(c comparison) float64 { return c.one })
	writeVerdict(all, text)
}

// on is the ratio of a trace; NaN if there is none.
func (c comparison) on(trace string) float64 {
	if v, ok := c.over[trace]; ok {
		return v
	}
	return math.NaN()
}

// formatBounded is a ratio, in bold if it is over a bound.
func formatBounded(v, most float64) string {
	if v > most {
		return "**" + formatRatio(v) + "**"
	}
	return formatRatio(v)
}

// writeVerdict writes whether the cost rose by too much, and what could not be compared.
func writeVerdict(all []comparison, text *strings.Builder) {
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
		text.WriteString("\nOutside the swept range, not compared:\n\n- " + strings.Join(outside, "\n- ") + "\n")
	}
}
