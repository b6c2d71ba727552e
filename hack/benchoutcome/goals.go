package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// goal is a figure that the outcome study wants of a policy: no more than most.
type goal struct {
	what      string
	most, got float64
	// format of both figures, with their unit.
	format string
	// unplayed says that what the figure is made of was not played.
	unplayed bool
}

const (
	asCost    = "%.3f"
	asPercent = "%.2f %%"
	asNumber  = "%.2f"
	asSeconds = "%.2f s"
)

// figure is what was got, or why there is none.
func (g goal) figure() string {
	switch {
	case g.unplayed:
		return "not played"
	case math.IsNaN(g.got):
		return "out of reach" // No setting is late so seldom.
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

// studied says that a trace counts and is of the first folder, which the goals are stated for.
func (s summary) studied(t *trial) bool {
	return t.counts() && t.set == s.trials((*trial).counts)[0].set
}

// goals are all that the study states for the lead time.
func (s summary) goals() []goal {
	out := s.costGoals()
	out = append(out, s.askedGoals()...)
	out = append(out, s.matchedGoals()...)
	out = append(out, s.scheduledGoals()...)
	out = append(out, s.slowerGoals()...)
	return append(out, s.effortGoals()...)
}

// goalsTable puts each goal beside what was got.
func (s summary) goalsTable(text *strings.Builder) {
	fmt.Fprintf(
		text,
		"\n**Goals of the outcome study**, stated for its shared traces and a refresh every 15 s; L = %s, "+
			"refresh every %s, %s\n\n| goal | at most | got | |\n|---|--:|--:|---|\n",
		s.options.lead,
		s.options.step,
		cmp.Or(strings.Join(names(s.trials(s.studied)), ", "), "no trace"),
	)
	for _, g := range s.goals() {
		fmt.Fprintf(text, "| %s | "+g.format+" | %s | %s |\n", g.what, g.most, g.figure(), g.verdict())
	}
}

// bound is a goal of forewarm with one objective: the figure is made of the traces that are picked, and unplayed where
// either is missing.
func (s summary) bound(g goal, pick func(*trial) bool, figure func(r rival, trials []*trial) float64) goal {
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
		out = append(out, s.bound(g, s.studied, func(r rival, trials []*trial) float64 {
			byMean, byWorst := s.fronts(r, trials)
			if c.worst {
				return costAt(byWorst, c.late)
			}
			return costAt(byMean, c.late)
		}))
	}
	return out
}
