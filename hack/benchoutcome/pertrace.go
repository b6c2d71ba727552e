package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// perTrace writes the costs at a matched lateness, each trace with its own best setting, and their ratio to the reactive rule
// tuned in hindsight.
func (s summary) perTrace(text *strings.Builder, trials []*trial) {
	for _, late := range matchedLateness()[:2] {
		fmt.Fprintf(text, "\n**Each trace with its own setting, chosen afterwards**: cost at late ≤ %g %%; last, the "+
			"geometric mean over that of reactive-hindsight, of the traces on which both reach the lateness, with equal "+
			"weights of families and of traces\n\n| policy |", 100*late)
		for _, t := range trials {
			fmt.Fprintf(text, " %s |", t.name)
		}
		text.WriteString(" over hindsight | by trace |\n|---|" + strings.Repeat("--:|", len(trials)+2) + "\n")
		for _, r := range s.policies {
			fmt.Fprintf(text, "| %s |", r.name)
			for _, t := range trials {
				fmt.Fprintf(text, " %s |", formatCost(s.of(r, t).costAt(late)))
			}
			over := s.overHindsight(r, trials, late)
			fmt.Fprintf(text, " %s | %s |\n", formatRatio(over.families), formatRatio(over.traces))
		}
	}
}

// formatRatio has a digit more than a cost.
func formatRatio(v float64) string {
	if math.IsNaN(v) {
		return formatCost(v)
	}
	return fmt.Sprintf("%.3f", v)
}

func (r result) costAt(late float64) float64 {
	var points []point
	for _, l := range r.lines {
		points = append(points, point{l.Late, l.Cost})
	}
	return costAt(points, late)
}

// costRatio is the geometric mean of cost ratios, with equal weights of families and of traces.
type costRatio struct{ families, traces float64 }

// overHindsight is a policy's cost over that of the reactive rule tuned in hindsight, of the traces on which both reach the
// lateness. NaN if there is none, and if hindsight is not played.
func (s summary) overHindsight(r benchPolicy, trials []*trial, late float64) costRatio {
	hindsight := slices.IndexFunc(s.policies, func(r benchPolicy) bool { return r.hindsight })
	if hindsight < 0 {
		return costRatio{math.NaN(), math.NaN()}
	}
	var both []*trial
	var ratios []float64
	for _, t := range trials {
		v := s.of(r, t).costAt(late) / s.of(s.policies[hindsight], t).costAt(late)
		if !math.IsNaN(v) {
			both, ratios = append(both, t), append(ratios, v)
		}
	}
	return costRatio{geometric(ratios, trialWeights(both)), geometric(ratios, equalWeights(len(both)))}
}

// geometric is the geometric mean with weights that sum to 1; NaN without values.
func geometric(values, weights []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for i, v := range values {
		sum += weights[i] * math.Log(v)
	}
	return math.Exp(sum)
}

// matchedGoals bound the cost of each trace with its own objective by that of the reactive rule tuned in hindsight.
func (s summary) matchedGoals() []goal {
	most, stated := map[lead]float64{{median: 2 * time.Minute}: 0.86, {median: 5 * time.Minute}: 0.87}[s.options.lead]
	if !stated {
		return nil
	}
	g := goal{
		what:   "forewarm over reactive-hindsight: cost at late .5 %, each trace with its own setting, equal weights of families",
		most:   most,
		format: asCost,
	}
	if !slices.ContainsFunc(s.policies, func(r benchPolicy) bool { return r.hindsight }) {
		g.unplayed = true
		return []goal{g}
	}
	return []goal{s.bound(g, s.studied, func(r benchPolicy, trials []*trial) float64 {
		return s.overHindsight(r, trials, 0.005).families
	})}
}
