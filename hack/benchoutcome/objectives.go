package main

import (
	"fmt"
	"slices"
	"strings"
)

// reportedObjectives are those that are reported trace by trace.
func reportedObjectives() []float64 { return []float64{0.005, 0.01, 0.02} }

// objectivesTable has the lateness under each objective over all traces, and lateness and cost on each.
func (s summary) objectivesTable(text *strings.Builder, trials []*trial) {
	rivals := slices.DeleteFunc(slices.Clone(s.policies), func(r benchPolicy) bool { return !r.objective })
	if len(rivals) == 0 {
		return
	}
	text.WriteString(
		"\n**Objective and actual lateness**, in percent: one objective for all traces; lateness at cost on each trace\n\n" +
			"| policy | objective | mean | median | worst trace | sd log10 |",
	)
	for _, t := range trials {
		fmt.Fprintf(text, " %s |", t.name)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", 5+len(trials)) + "\n")
	for _, r := range rivals {
		for _, objective := range reportedObjectives() {
			o := s.withObjective(r, trials, objective)
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

// withObjective is what a policy does with one objective.
func (s summary) withObjective(r benchPolicy, trials []*trial, objective float64) settingTotals {
	ones := s.ones(r, trials)
	return ones[slices.IndexFunc(ones, func(o settingTotals) bool { return o.setting == objective })]
}

// at is the line of a setting.
func (r result) at(setting float64) line {
	return r.lines[slices.IndexFunc(r.lines, func(l line) bool { return l.Setting == setting })]
}

// objectiveGoals bound the lateness under an objective of 1 %.
func (s summary) objectiveGoals() []goal {
	var out []goal
	for _, g := range []struct {
		goal
		of func(settingTotals) float64
	}{
		{goal{what: "mean late", most: 1.1, format: asPercent}, func(o settingTotals) float64 { return 100 * o.mean }},
		{goal{what: "late on the worst trace", most: 2.5, format: asPercent}, func(o settingTotals) float64 { return 100 * o.worst }},
		{goal{what: "standard deviation of log10(late)", most: 0.3, format: asNumber}, func(o settingTotals) float64 { return o.spread }},
	} {
		g.what = "forewarm, objective 1 %: " + g.what
		out = append(out, s.bound(g.goal, s.studied, func(r benchPolicy, trials []*trial) float64 {
			return g.of(s.withObjective(r, trials, 0.01))
		}))
	}
	return out
}
