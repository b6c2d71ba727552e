package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// summary is what is made of all lines.
type summary struct {
	results []result
	rivals  []rival
}

// matched are the lateness at which costs are compared.
func matched() []float64 { return []float64{0.005, 0.01, 0.02} }

// print writes the tables: one setting for all traces, then each trace with its own.
func (s summary) print(out io.Writer, o options) error {
	var text strings.Builder
	if trials := s.trials((*trial).counts); len(trials) > 0 {
		s.oneSetting(&text, trials, o)
		s.perTrace(&text, trials)
	} else {
		text.WriteString("\nNo trace is as long as a day: there is no summary of one setting for all.\n")
	}
	if made := s.trials(func(t *trial) bool { return t.family == scheduledFamily }); len(made) > 0 {
		s.perTrace(&text, made)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// trials are those of a kind, in their order.
func (s summary) trials(of func(*trial) bool) []*trial {
	var out []*trial
	for _, r := range s.results {
		if of(r.trial) && !slices.Contains(out, r.trial) {
			out = append(out, r.trial)
		}
	}
	return out
}

// oneSetting is the table of costs at one setting for all traces.
func (s summary) oneSetting(text *strings.Builder, trials []*trial, o options) {
	var families, names []string
	for _, t := range trials {
		names = append(names, t.name)
		if !slices.Contains(families, t.family) {
			families = append(families, t.family)
		}
	}
	fmt.Fprintf(text, "\n**One setting for all traces**, L = %s, refresh every %s: %s; families %s weigh equally; "+
		"cost = GPU-hours / demand, geometric mean\n\n", o.lead, o.step, strings.Join(names, ", "), strings.Join(families, ", "))
	text.WriteString(
		"| policy | at mean late .5 % | 1 % | 2 % | worst trace ≤ 2 % | ≤ 3 % | nearest to 1 %: setting: " +
			"mean, median, worst late, sd log10; churn/h, cost |\n|---|--:|--:|--:|--:|--:|---|\n",
	)
	for _, r := range s.rivals {
		if r.hindsight {
			continue
		}
		ones := s.ones(r, trials)
		byMean, byWorst := s.fronts(r, trials)
		fmt.Fprintf(text, "| %s |", r.name)
		for _, late := range matched() {
			fmt.Fprintf(text, " %s |", shown(costAt(byMean, late)))
		}
		for _, late := range []float64{0.02, 0.03} {
			fmt.Fprintf(text, " %s |", shown(costAt(byWorst, late)))
		}
		n := nearest(ones, 0.01)
		fmt.Fprintf(text, " %g: %.2f %%, %.2f, %.1f, %.2f; %.0f, %.2f |\n",
			n.setting, 100*n.mean, 100*n.median, 100*n.worst, n.spread, n.churn, n.cost)
	}
}

// fronts are a policy's costs by the mean lateness, and by that of the worst trace.
func (s summary) fronts(r rival, trials []*trial) (byMean, byWorst []point) {
	for _, o := range s.ones(r, trials) {
		byMean = append(byMean, point{o.mean, o.cost})
		byWorst = append(byWorst, point{o.worst, o.cost})
	}
	return byMean, byWorst
}

// ones are a policy's settings over the traces, in the order in which they were swept.
func (s summary) ones(r rival, trials []*trial) []one {
	var of []result
	for _, t := range trials {
		of = append(of, s.of(r, t))
	}
	weights := weightsOf(trials)
	var out []one
	for i, first := range of[0].lines {
		var lines []line
		for _, result := range of {
			lines = append(lines, result.lines[i])
		}
		out = append(out, together(first.Setting, lines, weights))
	}
	return out
}

func (s summary) of(r rival, t *trial) result {
	i := slices.IndexFunc(s.results, func(x result) bool { return x.rival.name == r.name && x.trial == t })
	return s.results[i]
}

// nearest is the setting whose mean lateness is nearest to one, as a ratio.
func nearest(ones []one, late float64) one {
	best, least := one{}, math.Inf(1)
	for _, o := range ones {
		if d := math.Abs(math.Log((o.mean + 1e-6) / late)); d < least {
			best, least = o, d
		}
	}
	return best
}

// perTrace are the tables of costs at a matched lateness, every trace with the setting that is best for it, chosen
// afterwards.
func (s summary) perTrace(text *strings.Builder, trials []*trial) {
	for _, late := range matched()[:2] {
		fmt.Fprintf(text, "\n**Each trace with its own setting, chosen afterwards**: cost at late ≤ %g %%; "+
			"last, the geometric mean over that of reactive-hindsight\n\n| policy |", 100*late)
		for _, t := range trials {
			fmt.Fprintf(text, " %s |", t.name)
		}
		text.WriteString(" over hindsight |\n|---|" + strings.Repeat("--:|", len(trials)+1) + "\n")
		for _, r := range s.rivals {
			fmt.Fprintf(text, "| %s |", r.name)
			for _, t := range trials {
				fmt.Fprintf(text, " %s |", shown(s.of(r, t).costAt(late)))
			}
			fmt.Fprintf(text, " %s |\n", shown(s.overHindsight(r, trials, late)))
		}
	}
}

func (r result) costAt(late float64) float64 {
	var points []point
	for _, l := range r.lines {
		points = append(points, point{l.Late, l.Cost})
	}
	return costAt(points, late)
}

// overHindsight is the geometric mean, over the traces on which both reach the lateness, of a policy's cost over that of
// the reactive rule tuned afterwards. NaN where that is not played.
func (s summary) overHindsight(r rival, trials []*trial, late float64) float64 {
	i := slices.IndexFunc(s.rivals, func(r rival) bool { return r.hindsight })
	if i < 0 {
		return math.NaN()
	}
	sum, n := 0.0, 0
	for _, t := range trials {
		if d := math.Log(s.of(r, t).costAt(late) / s.of(s.rivals[i], t).costAt(late)); !math.IsNaN(d) {
			sum += d
			n++
		}
	}
	return math.Exp(sum / float64(n))
}

// shown is a cost, or a dash where a lateness is out of reach.
func shown(cost float64) string {
	if math.IsNaN(cost) {
		return "–"
	}
	return fmt.Sprintf("%.2f", cost)
}
