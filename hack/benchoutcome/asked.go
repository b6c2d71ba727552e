package main

import (
	"fmt"
	"slices"
	"strings"
)

// asked are the objectives whose outcome is told trace by trace.
func asked() []float64 { return []float64{0.005, 0.01, 0.02} }

// askedTable is what each objective asked for led to: over all traces, and on each its lateness and its cost.
func (s summary) askedTable(text *strings.Builder, trials []*trial) {
	rivals := slices.DeleteFunc(slices.Clone(s.rivals), func(r rival) bool { return !r.objective })
	if len(rivals) == 0 {
		return
	}
	text.WriteString(
		"\n**Late asked for, and late got**, in percent: one objective for all traces; of each trace the cost too\n\n" +
			"| policy | asked | mean | median | worst trace | sd log10 |",
	)
	for _, t := range trials {
		fmt.Fprintf(text, " %s |", t.name)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", 5+len(trials)) + "\n")
	for _, r := range rivals {
		for _, objective := range asked() {
			o := s.asked(r, trials, objective)
			fmt.Fprintf(text, "| %s | %g | %.2f | %.2f | %.2f | %.2f |",
				r.name, 100*objective, 100*o.mean, 100*o.median, 100*o.worst, o.spread)
			for _, t := range trials {
				l := s.of(r, t).at(objective)
				fmt.Fprintf(text, " %.2f at %.2f |", 100*l.Late, l.Cost)
			}
			text.WriteString("\n")
		}
	}
}

// asked is what a policy does with one of its objectives.
func (s summary) asked(r rival, trials []*trial, objective float64) one {
	ones := s.ones(r, trials)
	return ones[slices.IndexFunc(ones, func(o one) bool { return o.setting == objective })]
}

// at is the line of a setting that was played.
func (r result) at(setting float64) line {
	return r.lines[slices.IndexFunc(r.lines, func(l line) bool { return l.Setting == setting })]
}

// askedGoals bound what 1 % asked for leads to.
func (s summary) askedGoals() []goal {
	var out []goal
	for _, g := range []struct {
		goal
		of func(one) float64
	}{
		{goal{what: "mean late", most: 1.1, format: asPercent}, func(o one) float64 { return 100 * o.mean }},
		{goal{what: "late on the worst trace", most: 2.5, format: asPercent}, func(o one) float64 { return 100 * o.worst }},
		{goal{what: "standard deviation of log10(late)", most: 0.3, format: asNumber}, func(o one) float64 { return o.spread }},
	} {
		g.what = "forewarm asked for 1 %: " + g.what
		out = append(out, s.bound(g.goal, s.studied, func(r rival, trials []*trial) float64 {
			return g.of(s.asked(r, trials, 0.01))
		}))
	}
	return out
}
