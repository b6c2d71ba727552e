package decompose

import "math"

// week is the class of each of seven days, counted from the first whole day of a history; one day says that all
// are alike.
type week []int

func (w week) class(d int) int { return w[d%len(w)] }

func (w week) classes() int {
	n := 0
	for _, class := range w {
		n = max(n, class+1)
	}
	return n
}

const (
	// fewestDays are needed to learn a profile from one and to prove it on two.
	fewestDays = 3
	// fewestForWeekend and fewestForWeek are the days from which a weekend is looked for, and from which every day of
	// the week may be of its own class.
	fewestForWeekend = 14
	fewestForWeek    = 28
)

// weeks are the classes that a number of days lets try: all alike, two days in a row apart from the other five, all
// apart. Where the weekend lies is found out: neither the calendar of a series' users nor always its clock is known.
func weeks(days int) []week {
	out := []week{{0}}
	if days >= fewestForWeekend {
		for first := range 7 {
			w := make(week, 7)
			w[first], w[(first+1)%7] = 1, 1
			out = append(out, w)
		}
	}
	if days >= fewestForWeek {
		out = append(out, week{0, 1, 2, 3, 4, 5, 6})
	}
	return out
}

// weigh is how far the proofs let a profile be believed: least squares' weight, shrunk by its standard error over the
// days (James & Stein 1961, positive part), from 0 to 1. A weight that lies within one standard error of 0 is 0.
func weigh(proofs []proof) float64 {
	var sum proof
	days := 0.0
	for _, p := range proofs {
		sum.product += p.product
		sum.square += p.square
		if p.square > 0 {
			days++
		}
	}
	if days < fewestDays-1 || sum.product <= 0 {
		return 0
	}
	weight := sum.product / sum.square
	squares := 0.0
	for _, p := range proofs {
		rest := p.product - weight*p.square
		squares += rest * rest
	}
	variance := squares * days / (days - 1) / (sum.square * sum.square)
	return min(max(weight-variance/weight, 0), 1)
}

// gain is by how much a profile of a weight lowers the squared errors on the day.
func (p proof) gain(weight float64) float64 { return weight * (2*p.product - weight*p.square) }

// chooseWeek proves all weeks and takes the one that gains most, with its weight. One of several classes must beat the
// one by more than a standard error of the difference over the days that both could forecast (Breiman, Friedman, Olshen
// & Stone 1984, section 3.4.3).
func (h history) chooseWeek() (week, float64) {
	candidates := weeks(h.days())
	simple := h.prove(candidates[0])
	simpleWeight := weigh(simple)
	best, bestWeight, bestGain := candidates[0], simpleWeight, 0.0
	for _, w := range candidates[1:] {
		proofs := h.prove(w)
		weight := weigh(proofs)
		if gain, certain := compare(proofs, weight, simple, simpleWeight); certain && gain > bestGain {
			best, bestWeight, bestGain = w, weight, gain
		}
	}
	return best, bestWeight
}

// compare is the mean gain per day of one profile over another, and whether it exceeds its standard error.
func compare(one []proof, oneWeight float64, other []proof, otherWeight float64) (gain float64, certain bool) {
	n, mean, squares := 0.0, 0.0, 0.0
	for d, p := range one {
		if p.square == 0 {
			continue
		}
		n++
		difference := p.gain(oneWeight) - other[d].gain(otherWeight)
		step := difference - mean
		mean += step / n
		squares += step * (difference - mean)
	}
	if n < 2 {
		return 0, false
	}
	return mean, mean > math.Sqrt(squares/(n-1)/n)
}
