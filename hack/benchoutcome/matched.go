package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// perTrace are the tables of costs at a matched lateness, every trace with the setting that is best for it, chosen
// afterwards, and what that is beside the reactive rule tuned afterwards.
func (s summary) perTrace(text *strings.Builder, trials []*trial) {
	for _, late := range matched()[:2] {
		fmt.Fprintf(text, "\n**Each trace with its own setting, chosen afterwards**: cost at late ≤ %g %%; last, the "+
			"geometric mean over that of reactive-hindsight, of the traces on which both are so seldom late, families "+
			"alike and traces alike\n\n| policy |", 100*late)
		for _, t := range trials {
			fmt.Fprintf(text, " %s |", t.name)
		}
		text.WriteString(" over hindsight | traces alike |\n|---|" + strings.Repeat("--:|", len(trials)+2) + "\n")
		for _, r := range s.rivals {
			fmt.Fprintf(text, "| %s |", r.name)
			for _, t := range trials {
				fmt.Fprintf(text, " %s |", shown(s.of(r, t).costAt(late)))
			}
			over := s.overHindsight(r, trials, late)
			fmt.Fprintf(text, " %s | %s |\n", ratio(over.families), ratio(over.traces))
		}
	}
}

// ratio is shown with a digit more than a cost.
func ratio(v float64) string {
	if math.IsNaN(v) {
		return shown(v)
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

// over is a cost over another, the geometric mean of traces: families counting alike, and traces.
type over struct{ families, traces float64 }

// overHindsight is a policy's cost over that of the reactive rule tuned afterwards, where both reach the lateness. NaN where
// that is nowhere, and where hindsight is not played.
func (s summary) overHindsight(r rival, trials []*trial, late float64) over {
	hindsight := slices.IndexFunc(s.rivals, func(r rival) bool { return r.hindsight })
	if hindsight < 0 {
		return over{math.NaN(), math.NaN()}
	}
	var both []*trial
	var ratios []float64
	for _, t := range trials {
		v := s.of(r, t).costAt(late) / s.of(s.rivals[hindsight], t).costAt(late)
		if !math.IsNaN(v) {
			both, ratios = append(both, t), append(ratios, v)
		}
	}
	return over{geometric(ratios, weightsOf(both)), geometric(ratios, alike(len(both)))}
}

// geometric is the geometric mean under weights that sum to 1; NaN of nothing.
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

// matchedGoals bound the cost of each trace with its own objective by the reactive rule tuned afterwards.
func (s summary) matchedGoals() []goal {
	most, stated := map[lead]float64{{median: 2 * time.Minute}: 0.86, {median: 5 * time.Minute}: 0.87}[s.options.lead]
	if !stated {
		return nil
	}
	g := goal{
		what: "forewarm over reactive-hindsight: cost at late .5 %, each trace with its own setting, families alike",
		most: most, format: asCost,
	}
	if !slices.ContainsFunc(s.rivals, func(r rival) bool { return r.hindsight }) {
		g.unplayed = true
		return []goal{g}
	}
	return []goal{s.bound(g, s.studied, func(r rival, trials []*trial) float64 {
		return s.overHindsight(r, trials, 0.005).families
	})}
}
