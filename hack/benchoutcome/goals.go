package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// goal is a figure of the study that a policy should not exceed.
type goal struct {
	what      string
	most, got float64
	// format of both figures, with their unit.
	format string
	// unplayed: the runs of the figure were not played.
	unplayed bool
}

const (
	asCost    = "%.3f"
	asPercent = "%.2f %%"
	asNumber  = "%.2f"
	asSeconds = "%.2f s"
)

// figure is the result, or why there is none.
func (g goal) figure() string {
	switch {
	case g.unplayed:
		return "not played"
	case math.IsNaN(g.got):
		return "out of reach" // Every setting is later.
	default:
		return fmt.Sprintf(g.format, g.got)
	}
}

func (g goal) verdict() string {
	switch {
	case g.unplayed:
		return "–"
	case g.got <= g.most:
		return "met"
	default:
		return "**missed**"
	}
}

// studied reports whether a trace counts and is of the first folder, which the goals are stated for.
func (s summary) studied(t *trial) bool {
	return t.counts() && t.folder == s.trials((*trial).counts)[0].folder
}

// goals are all of the study for the lead time.
func (s summary) goals() []goal {
	out := s.costGoals()
	out = append(out, s.objectiveGoals()...)
	out = append(out, s.matchedGoals()...)
	out = append(out, s.scheduledGoals()...)
	out = append(out, s.slowerGoals()...)
	return append(out, s.cpuGoals()...)
}

// goalsTable has each goal with its result.
func (s summary) goalsTable(text *strings.Builder) {
	fmt.Fprintf(
		text,
		"\n**Goals of the study**, stated for the traces of the first folder and a refresh every 15 s; L = %s, "+
			"refresh every %s, %s\n\n| goal | at most | result | |\n|---|--:|--:|---|\n",
		s.options.lead,
		s.options.step,
		cmp.Or(strings.Join(names(s.trials(s.studied)), ", "), "no trace"),
	)
	for _, g := range s.goals() {
		fmt.Fprintf(text, "| %s | "+g.format+" | %s | %s |\n", g.what, g.most, g.figure(), g.verdict())
	}
}

// bound is a goal of Forewarm with one objective: a figure of the picked traces, unplayed if either is missing.
func (s summary) bound(g goal, pick func(*trial) bool, figure func(r benchPolicy, trials []*trial) float64) goal {
	trials := s.trials(pick)
	r, played := s.forewarm()
	if !played || len(trials) == 0 {
		g.unplayed = true
		return g
	}
	g.got = figure(r, trials)
	return g
}

// costGoals bound the cost of one objective for all traces.
func (s summary) costGoals() []goal {
	var out []goal
	for _, c := range []struct {
		lead        time.Duration
		late        float64
		worst       bool // late is that of the worst trace, and not the mean
		most        float64
		description string
	}{
		{2 * time.Minute, 0.01, false, 1.30, "mean late 1 %"},
		{5 * time.Minute, 0.005, false, 1.88, "mean late .5 %"},
		{5 * time.Minute, 0.01, false, 1.70, "mean late 1 %"},
		{5 * time.Minute, 0.02, true, 1.75, "worst trace ≤ 2 %"},
		{10 * time.Minute, 0.01, false, 2.20, "mean late 1 %"},
	} {
		if (lead{median: c.lead}) != s.options.lead {
			continue
		}
		g := goal{
			what:   "forewarm, one objective for all traces: cost at " + c.description,
			most:   c.most,
			format: asCost,
		}
		out = append(out, s.bound(g, s.studied, func(r benchPolicy, trials []*trial) float64 {
			byMean, byWorst := s.fronts(r, trials)
			if c.worst {
				return costAt(byWorst, c.late)
			}
			return costAt(byMean, c.late)
		}))
	}
	return out
}
