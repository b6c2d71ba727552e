package arima

import (
	"math"
	"slices"
)

// boldest bounds the partial autocorrelations of a first guess, so that it is not too close to a unit root.
const boldest = 0.97

// seed makes first guesses of the coefficients by the two regressions of Hannan & Rissanen (1982). A long autoregression yields the
// forecast errors, and a regression on past values and past errors yields the coefficients. Only here, gaps are bridged by straight lines.
type seed struct {
	w, surprises []float64
	// partials are the Yule–Walker partial autocorrelations, as many as the long autoregression has terms.
	partials []float64
}

func newSeed(pr *problem) *seed {
	s := &seed{w: pr.differenced[0]}
	s.partials = yuleWalker(s.w, longOrder(len(s.w)))
	long := make([]float64, len(s.partials))
	fromPartial(s.partials, long, make([]float64, len(long)))
	s.surprises = make([]float64, len(s.w))
	for t := len(long); t < len(s.w); t++ {
		s.surprises[t] = s.w[t] - lagged(long, s.w[:t])
	}
	return s
}

// longOrder returns the usual 10·log₁₀(n), limited so that at least two values per term are left.
func longOrder(n int) int {
	if n < 4 {
		return 0
	}
	return min(int(10*math.Log10(float64(n))), n/3)
}

// guess returns a point from which to search for the coefficients of an order.
func (s *seed) guess(order Order) []float64 {
	p, q := order.P, order.Q
	ar, ma := make([]float64, p), make([]float64, q)
	if q == 0 {
		copy(ar, s.partials)
	} else if c, ok := s.regress(p, q); ok {
		for i := range c[p:] {
			c[p+i] = -c[p+i]
		}
		tame(c[:p], ar)
		tame(c[p:], ma)
	}
	sar, sma := make([]float64, order.Seasonal.P), make([]float64, order.Seasonal.Q)
	if len(sar) > 0 {
		sar[0] = 0.1
	}
	if len(sma) > 0 {
		sma[0] = 0.1
		if order.Seasonal.D > 0 {
			sma[0] = 0.5
		}
	}
	x := slices.Concat(ar, sar, ma, sma)
	for i, v := range x {
		x[i] = math.Atanh(math.Max(-boldest, math.Min(v, boldest)))
	}
	return x
}

// regress returns the least-squares regression of w on p past values and q past errors.
func (s *seed) regress(p, q int) ([]float64, bool) {
	k := p + q
	begin := len(s.partials) + max(p, q)
	if len(s.w)-begin < 2*k {
		return nil, false
	}
	row := make([]float64, k)
	normal, right := make([][]float64, k), make([]float64, k)
	for i := range normal {
		normal[i] = make([]float64, k)
		normal[i][i] = 1e-8 * float64(len(s.w))
	}
	for t := begin; t < len(s.w); t++ {
		for i := range p {
			row[i] = s.w[t-1-i]
		}
		for i := range q {
			row[p+i] = s.surprises[t-1-i]
		}
		for i, a := range row {
			right[i] += a * s.w[t]
			for j := range i + 1 {
				normal[i][j] += a * row[j]
			}
		}
	}
	return right, solve(normal, right)
}

// solve solves a symmetric positive definite system, given by its lower triangle, in place by Cholesky decomposition. It returns false if
// the system is not positive definite.
func solve(a [][]float64, b []float64) bool {
	if !factor(a) {
		return false
	}
	for i, row := range a {
		for k := range i {
			b[i] -= row[k] * b[k]
		}
		b[i] /= row[i]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := i + 1; k < len(a); k++ {
			b[i] -= a[k][i] * b[k]
		}
		b[i] /= a[i][i]
	}
	return true
}

// factor replaces a lower triangle with its Cholesky factor.
func factor(a [][]float64) bool {
	for i, row := range a {
		for j := range i + 1 {
			sum := row[j]
			for k := range j {
				sum -= row[k] * a[j][k]
			}
			if i > j {
				row[j] = sum / a[j][j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			row[i] = math.Sqrt(sum)
		}
	}
	return true
}

// tame writes the partial autocorrelations of the coefficients to x. It moves the roots away from the unit circle until the coefficients
// are stationary.
func tame(c, x []float64) {
	work := make([]float64, 2*len(c))
	for range 200 {
		if toPartial(c, x, work) {
			return
		}
		power := 1.0
		for i := range c {
			power *= 0.95
			c[i] *= power
		}
	}
	clear(x)
}

// yuleWalker returns the first n partial autocorrelations of w, from the Levinson–Durbin recursion on its sample autocovariances.
func yuleWalker(w []float64, n int) []float64 {
	covariance := make([]float64, n+1)
	for lag := range covariance {
		for t := lag; t < len(w); t++ {
			covariance[lag] += w[t] * w[t-lag]
		}
	}
	partials := make([]float64, n)
	c, work := make([]float64, n), make([]float64, n)
	remaining := covariance[0]
	for k := range n {
		if !(remaining > 0) {
			return partials[:k]
		}
		r := (covariance[k+1] - lagged(c[:k], covariance[1:k+1])) / remaining
		partials[k] = math.Max(-boldest, math.Min(r, boldest))
		fromPartial(partials[:k+1], c[:k+1], work)
		remaining *= (1 - partials[k]) * (1 + partials[k])
	}
	return partials
}
