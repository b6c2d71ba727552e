package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// calibrated is Forewarm on a trace under an objective, beside what hindsight and rivals would have done.
type calibrated struct {
	objective float64
	// ratio is the lateness over the objective. Right is true from 1/3 to 1.3, and below where no smaller headroom exists.
	ratio float64
	right bool
	// unreachable: no constant headroom keeps the objective.
	unreachable bool
	// regret is the cost over that of the best constant headroom; over HPA and over tuned are the cost over that of the
	// best target of a stock HPA and of the self-tuning reactive rule, none of them later than Forewarm or than asked.
	regret, overHPA, overTuned float64
}

const leastRight, mostRight = 1.0 / 3, 1.3

// calibratedOn is Forewarm on a trace under an objective.
func (s summary) calibratedOn(r benchPolicy, t *trial, objective float64) calibrated {
	own := s.of(r, t)
	got := own.at(objective)
	var constant []point
	least := 1.0 // lateness under the smallest headroom
	for _, l := range own.constant {
		if l.Objective == objective {
			constant = append(constant, point{l.Late, l.Cost})
			if l.Setting == 0 {
				least = l.Late
			}
		}
	}
	ratio, late := got.Late/objective, max(objective, got.Late)
	return calibrated{
		objective:   objective,
		ratio:       ratio,
		right:       ratio <= mostRight && (ratio >= leastRight || least <= objective),
		unreachable: math.IsNaN(costAt(constant, objective)),
		regret:      got.Cost / costAt(constant, late),
		overHPA:     got.Cost / s.costOn("stock300", t, late),
		overTuned:   got.Cost / s.costOn("reactive-tuned", t, got.Late),
	}
}

// costOn is the cost of a policy on a trace at a lateness; NaN if it was not played, and if every setting is later.
func (s summary) costOn(policy string, t *trial, late float64) float64 {
	i := slices.IndexFunc(s.policies, func(r benchPolicy) bool { return r.name == policy })
	if i < 0 {
		return math.NaN()
	}
	return s.of(s.policies[i], t).costAt(late)
}

// calibrationTable has, for each trace and objective, whether the objective was spent, and what that cost.
func (s summary) calibrationTable(text *strings.Builder, trials []*trial) {
	r, played := s.forewarm()
	if !played || len(trials) == 0 || len(s.of(r, trials[0]).constant) == 0 {
		return
	}
	text.WriteString(
		"\n**The objective kept**: lateness over objective (! outside of 1/3 to 1.3, * no constant headroom " +
			"keeps it); cost over that of the best constant headroom, of the best HPA target, and of the self-tuning reactive " +
			"rule at Forewarm's lateness\n\n| trace |",
	)
	for _, objective := range reportedObjectives() {
		fmt.Fprintf(text, " %g %% | constant | HPA | tuned |", 100*objective)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", 4*len(reportedObjectives())) + "\n")
	var all []calibrated
	for _, t := range trials {
		fmt.Fprintf(text, "| %s |", t.name)
		for _, objective := range reportedObjectives() {
			c := s.calibratedOn(r, t, objective)
			all = append(all, c)
			mark := ""
			switch {
			case c.unreachable:
				mark = "*"
			case !c.right:
				mark = "!"
			}
			fmt.Fprintf(text, " %.2f%s | %s | %s | %s |", c.ratio, mark,
				formatRatio(c.regret), formatRatio(c.overHPA), formatRatio(c.overTuned))
		}
		text.WriteString("\n")
	}
	text.WriteString(calibrationFigures(all))
}

// calibrationFigures are the shares, means and worst of all runs.
func calibrationFigures(all []calibrated) string {
	reachable := slices.DeleteFunc(slices.Clone(all), func(c calibrated) bool { return c.unreachable })
	right, worst := 0, 0.0
	for _, c := range reachable {
		if c.right {
			right++
		}
		worst = max(worst, c.ratio)
	}
	regret := ratiosOf(reachable, func(c calibrated) float64 { return c.regret })
	one := slices.DeleteFunc(slices.Clone(all), func(c calibrated) bool { return c.objective != 0.01 })
	hpa := ratiosOf(one, func(c calibrated) float64 { return c.overHPA })
	tuned := ratiosOf(all, func(c calibrated) float64 { return c.overTuned })
	var text strings.Builder
	fmt.Fprintf(&text, "\n| figure | got | goal |\n|---|--:|--:|\n")
	fmt.Fprintf(&text, "| ratio right, of %d runs; worst | %.0f %%; %.2f | ≥ 85 %%; ≤ 2 |\n",
		len(reachable), 100*float64(right)/float64(len(reachable)), worst)
	fmt.Fprintf(&text, "| over the best constant headroom: mean; worst | %.3f; %.2f | ≤ 1.03; ≤ 1.12 |\n",
		geometric(regret, equalWeights(len(regret))), slices.Max(append(regret, 0)))
	for _, over := range []struct {
		what   string
		ratios []float64
		limit  float64
		goal   string
	}{
		{"over the best HPA target, 1 %: cheaper; worst", hpa, 1, "≥ 90 %; ≤ 1.05"},
		{"over the reactive rule: no dearer than 1.02; worst", tuned, 1.02, "≥ 90 %; ≤ 1.08"},
	} {
		if len(over.ratios) == 0 {
			continue
		}
		n := 0
		for _, v := range over.ratios {
			if v <= over.limit {
				n++
			}
		}
		fmt.Fprintf(&text, "| %s, of %d | %.0f %%; %.2f | %s |\n",
			over.what, len(over.ratios), 100*float64(n)/float64(len(over.ratios)), slices.Max(over.ratios), over.goal)
	}
	return text.String()
}

// ratiosOf are the known ratios.
func ratiosOf(all []calibrated, of func(calibrated) float64) []float64 {
	var out []float64
	for _, c := range all {
		if v := of(c); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}
