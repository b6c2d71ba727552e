package decompose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// gross is the number of interquartile ranges beyond the quartiles from which on a robust decomposition gives a value no initial weight.
// Ordinary series have no such values. A spike of a million times the noise would affect the first trend and season so much that the outer
// iterations could not correct it.
const gross = 10

// mistrust sets the initial weights: 0 for extreme outliers.
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

// rounding is the size of a remainder, as a share of the largest value, below which it counts as a rounding error. All such remainders have
// the same weight.
const rounding = 1e-12

// weigh gives each value a robustness weight that decreases with its remainder and is 0 from six medians on (the bisquare of Cleveland et
// al. 1990, section 2.3).
func (l *loop) weigh() {
	l.sortRemainders()
	n := len(l.sorted)
	l.weighWithin(3 * (l.sorted[n/2] + l.sorted[(n-1)/2]))
}

// sortRemainders sorts the sizes of the remainders.
func (l *loop) sortRemainders() {
	if l.sorted == nil {
		l.sorted = make([]float64, len(l.y))
	}
	for i, y := range l.y {
		l.sorted[i] = math.Abs(y - l.trend[i] - l.season[i])
	}
	slices.Sort(l.sorted)
}

// weighWithin sets the weights, which are 0 for remainders as large as the limit.
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

// bisquare returns the weight of a remainder of size r.
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

const (
	// maxHarmonics is the maximum number of pairs of sine and cosine that represent a season.
	maxHarmonics = 5
	// maxDegree is the highest power of time in the trend. A series has one power for every tenth step.
	maxDegree = 6
	// illConditioned is the condition number of the normal equations above which the observed values do not determine a column, because of
	// gaps.
	illConditioned = 1e12
)

// regressGaps writes a first guess to the gaps of dst. It is the least-squares fit of a polynomial in time and a few harmonics of each
// season to the observed values. It may be outside the observed range by at most half of this range. If the observed values do not
// determine the fit, dst does not change.
func regressGaps(dst, values []float64, periods []int) {
	n := len(values)
	c := curve{n: n, degree: min(max(n/10, 1), maxDegree), periods: periods}
	k := c.columns()
	row := make([]float64, k)
	x := mat.NewVecDense(k, row) // the same numbers
	gram, cross := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	scale := numeric.Scale(values)
	for t, v := range values {
		if !math.IsNaN(v) {
			c.row(row, t)
			gram.SymRankOne(gram, 1, x)
			cross.AddScaledVec(cross, v/scale, x)
		}
	}
	var factor mat.Cholesky
	var beta mat.VecDense
	if !factor.Factorize(gram) || factor.Cond() > illConditioned || factor.SolveVecTo(&beta, cross) != nil {
		return
	}
	low, high := extremes(values)
	margin := high/2 - low/2
	for t, v := range values {
		if math.IsNaN(v) {
			c.row(row, t)
			dst[t] = min(max(scale*mat.Dot(&beta, x), low-margin), high+margin)
		}
	}
}

// curve is a polynomial in time with harmonics. It uses Legendre polynomials, which are almost orthogonal on n steps.
type curve struct {
	n, degree int
	periods   []int
}

func harmonics(period int) int { return min(period/2, maxHarmonics) }

func (c curve) columns() int {
	k := 1 + c.degree
	for _, period := range c.periods {
		k += 2 * harmonics(period)
		if 2*harmonics(period) == period {
			k-- // the sine of half the period is 0 at every step
		}
	}
	return k
}

// row writes the values of the columns at step t.
func (c curve) row(dst []float64, t int) {
	x := 0.0
	if c.n > 1 {
		x = 2*float64(t)/float64(c.n-1) - 1
	}
	before, now := 0.0, 1.0
	dst[0] = 1
	for k := range c.degree {
		before, now = now, (float64(2*k+1)*x*now-float64(k)*before)/float64(k+1)
		dst[k+1] = now
	}
	at := c.degree + 1
	for _, period := range c.periods {
		for j := 1; j <= harmonics(period); j++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(j*t%period) / float64(period))
			dst[at] = cos
			at++
			if 2*j != period {
				dst[at] = sin
				at++
			}
		}
	}
}
