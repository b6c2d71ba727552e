package decompose

import (
	"math"
	"slices"
)

// gross is how many interquartile ranges beyond the quartiles a value lies that a robust decomposition does not even
// start from. No ordinary series has one; a spike of a million times the noise would leave its mark on the first trend
// and season for longer than the outer iterations last.
const gross = 10

// mistrust gives no weight to start with to grossly outlying values.
func (l *loop) mistrust() {
	sorted := slices.Clone(l.y)
	slices.Sort(sorted)
	low, high := sorted[len(sorted)/4], sorted[len(sorted)-1-len(sorted)/4]
	margin := gross * (high - low)
	if margin == 0 || sorted[0] >= low-margin && sorted[len(sorted)-1] <= high+margin {
		return
	}
	l.weights = make([]float64, len(l.y))
	for i, y := range l.y {
		if y >= low-margin && y <= high+margin {
			l.weights[i] = 1
		}
	}
}

// rounding is the size of a remainder, as a share of the largest value, below which it is taken for an error of
// arithmetic: all such remainders weigh the same.
const rounding = 1e-12

// weigh gives each value a robustness weight that falls with its remainder, to 0 at six medians (the bisquare of
// Cleveland et al. 1990, section 2.3).
func (l *loop) weigh() {
	l.sortRemainders()
	n := len(l.sorted)
	l.weighWithin(3 * (l.sorted[n/2] + l.sorted[(n-1)/2]))
}

// sortRemainders puts the sizes of the remainders in order.
func (l *loop) sortRemainders() {
	if l.sorted == nil {
		l.sorted = make([]float64, len(l.y))
	}
	for i, y := range l.y {
		l.sorted[i] = math.Abs(y - l.trend[i] - l.season[i])
	}
	slices.Sort(l.sorted)
}

// weighWithin gives a remainder of the limit's size no weight.
func (l *loop) weighWithin(limit float64) {
	largest := 0.0
	for _, y := range l.y {
		largest = max(largest, math.Abs(y))
	}
	limit = max(limit, rounding*largest)
	if l.weights == nil {
		l.weights = make([]float64, len(l.y))
	}
	for i, y := range l.y {
		l.weights[i] = bisquare(math.Abs(y-l.trend[i]-l.season[i]), limit)
	}
}

// bisquare is the weight of a remainder of size r.
func bisquare(r, limit float64) float64 {
	switch {
	case r <= innermost*limit:
		return 1
	case r > outermost*limit:
		return 0
	}
	u := r / limit
	u = 1 - u*u
	return u * u
}
