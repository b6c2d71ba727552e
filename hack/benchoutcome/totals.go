package main

import (
	"cmp"
	"math"
	"slices"
)

// point is a lateness and what it costs.
type point struct{ late, cost float64 }

// costAt is the cost at a lateness: of the settings that are no later the cheapest, linear between two of them. NaN if every
// setting is later.
func costAt(points []point, late float64) float64 {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.late, b.late), cmp.Compare(a.cost, b.cost))
	})
	if len(sorted) == 0 || sorted[0].late > late {
		return math.NaN()
	}
	cheapest := math.Inf(1)
	before := point{}
	for _, p := range sorted {
		cheapest = min(cheapest, p.cost)
		if p.late > late {
			share := (late - before.late) / (p.late - before.late)
			return before.cost + share*(cheapest-before.cost)
		}
		before = point{p.late, cheapest}
	}
	return before.cost
}

// settingTotals is what one setting does over all traces, with equal weights of families.
type settingTotals struct {
	setting float64
	// mean, median and worst lateness over the traces; spread is the standard deviation of its decimal logarithm.
	mean, median, worst, spread float64
	// cost is the geometric mean, churn the mean.
	cost, churn float64
}

// leastLogLate is added to a lateness before taking its logarithm, as the study does.
const leastLogLate = 1e-4

// totalsOf sums up one setting's lines, one of each trace, with weights that sum to 1.
func totalsOf(setting float64, lines []line, weights []float64) settingTotals {
	o := settingTotals{setting: setting}
	var lates []float64
	logCost, logLate, logLate2 := 0.0, 0.0, 0.0
	for i, l := range lines {
		w := weights[i]
		lates = append(lates, l.Late)
		o.mean += w * l.Late
		o.churn += w * l.ChurnPerHour
		logCost += w * math.Log(l.Cost)
		logLate += w * math.Log10(l.Late+leastLogLate)
	}
	for i, l := range lines {
		logLate2 += weights[i] * square(math.Log10(l.Late+leastLogLate)-logLate)
	}
	slices.Sort(lates)
	n := len(lates)
	o.median = (lates[(n-1)/2] + lates[n/2]) / 2
	o.worst = lates[n-1]
	o.cost, o.spread = math.Exp(logCost), math.Sqrt(logLate2)
	return o
}

func square(x float64) float64 { return x * x }

// trialWeights are the familyWeights of the trials.
func trialWeights(trials []*trial) []float64 {
	var families []string
	for _, t := range trials {
		families = append(families, t.family)
	}
	return familyWeights(families)
}

// equalWeights are those of so many traces.
func equalWeights(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// familyWeights give families equal weights, and members of a family equal parts of it.
func familyWeights(families []string) []float64 {
	members := map[string]int{}
	for _, f := range families {
		members[f]++
	}
	out := make([]float64, len(families))
	for i, f := range families {
		out[i] = 1 / float64(len(members)*members[f])
	}
	return out
}
