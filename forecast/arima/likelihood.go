package arima

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// minVariance keeps the logarithm of the innovations' variance finite if a model reproduces the scaled series.
	minVariance = 1e-18
	// cancelled is the share of a sum below which a difference of sums is a rounding error.
	cancelled = 1e-12
	// farthest bounds the search: tanh(7) is 1.7e-6 away from a unit root.
	farthest = 7
)

// evaluator computes the likelihood of the problem's series at the points of a search.
type evaluator struct {
	*problem
	*process
	whitener *whitener
	// filter replaces the whitener if there are gaps. starts are the initial values of its differences.
	filter *filter
	starts [][]float64
	// white are the innovations of the series and of the constant's column, divided by their deviations.
	white [][]float64
	// distance is the regression's coefficient at the evaluated point.
	distance float64
	row      []float64
	surprise []float64
	// partials is the evaluated point.
	partials []float64
}

// outcome is the result of a likelihood at a point: the sum of the squared innovations, the sum of the logarithms of their variances, and
// their number.
type outcome struct {
	squares, logs float64
	n             int
}

// variance returns the estimate of the innovations' variance, in scaled units.
func (o outcome) variance() float64 { return math.Max(o.squares/float64(o.n), minVariance) }

// objective returns minus the log-likelihood per observation, without constants. NaN means that too many digits were lost. The search
// treats such a point as outside the domain.
func (o outcome) objective() float64 { return 0.5 * (math.Log(o.variance()) + o.logs/float64(o.n)) }

func newEvaluator(pr *problem) *evaluator {
	p := newProcess(pr.order)
	n, k := len(pr.differenced[0]), len(pr.differenced)
	e := &evaluator{
		problem: pr, process: p, whitener: newWhitener(p, k, n), white: make([][]float64, k),
		row: make([]float64, k), surprise: make([]float64, k), partials: make([]float64, pr.order.coefficients()),
	}
	for i := range k {
		e.white[i] = make([]float64, n)
	}
	if pr.gaps {
		e.begins()
	}
	return e
}

// affordable is the approximate number of multiplications that a pass may take if a search makes it a hundred times.
const affordable = 2e6

// begins creates the filter for a series with gaps. If all unknowns would be too expensive for a search, the filter keeps fewer of them.
func (e *evaluator) begins() {
	e.starts = append([][]float64{e.filled}, e.levels[1:]...)
	e.filter = newFilter(e.process, len(e.levels), max(fewest, min(affordable/e.unknownCost(), most)))
}

// widen creates the filter for a single pass, which can keep more unknowns.
func (e *evaluator) widen() {
	if e.gaps {
		e.filter = newFilter(e.process, len(e.levels), most)
	}
}

// unknownCost returns the cost of an unknown in a pass.
func (e *evaluator) unknownCost() int { return 3 * len(e.filled) * e.size }

// searchable reports whether a search by exact likelihood is fast enough for a fit. Otherwise, the coefficients come from conditional least
// squares, which are equally good for the thousands of values of such a series.
func (e *evaluator) searchable() bool {
	if e.gaps {
		return fewest*e.unknownCost() <= 5*affordable
	}
	return len(e.filled)*e.reach <= 20*affordable
}

func (e *evaluator) missing(t int) bool { return math.IsNaN(e.levels[0][t]) }

// walk whitens a series with gaps. The result has a row for each observation that is not used up by an unknown initial value.
func (e *evaluator) walk() (logs float64, n int) {
	e.filter.start(e.starts, e.missing)
	sum := logSum{product: 1}
	for t := e.delta.degree(); t < len(e.levels[0]); t++ {
		if e.missing(t) {
			e.filter.miss()
			continue
		}
		for i, level := range e.levels {
			e.row[i] = level[t]
		}
		variance := e.filter.take(e.row, e.surprise)
		if variance >= diffuse {
			continue
		}
		sum.add(variance)
		for i, v := range e.surprise {
			e.white[i][n] = v / math.Sqrt(variance)
		}
		n++
	}
	return sum.total(), n
}

// exact returns the exact likelihood of the present process.
func (e *evaluator) exact() outcome {
	o := outcome{n: len(e.white[0])}
	if e.gaps {
		o.logs, o.n = e.walk()
	} else {
		o.logs = e.whitener.exact(e.differenced, e.white)
	}
	return e.regress(o)
}

// conditional returns the conditional sum of squares, with initial values of 0 and bridged gaps.
func (e *evaluator) conditional() outcome {
	e.whitener.conditional(e.differenced, e.white)
	return e.regress(outcome{n: len(e.white[0])})
}

// regress removes the best regression from the innovations.
func (e *evaluator) regress(o outcome) outcome {
	if len(e.white) == 1 {
		o.squares = floats.Dot(e.white[0][:o.n], e.white[0][:o.n])
		return o
	}
	e.distance, o.squares = project(e.white[0][:o.n], e.white[1][:o.n])
	return o
}

// at sets the process to the partial autocorrelations tanh(x). It returns false if the process is numerically unusable.
func (e *evaluator) at(x []float64) bool {
	for i, v := range x {
		e.partials[i] = math.Tanh(math.Max(-farthest, math.Min(v, farthest)))
	}
	return e.setPartial(e.partials)
}

// objective returns the objective of the exact likelihood at a point of the search.
func (e *evaluator) objective(x []float64) float64 {
	if !e.at(x) {
		return math.Inf(1)
	}
	return e.exact().objective()
}

// exactAt returns the exact likelihood at a point inside the domain.
func (e *evaluator) exactAt(x []float64) outcome {
	e.at(x)
	return e.exact()
}

// residuals writes the innovations at a point. The determinant is distributed over them, so that the point with the smallest sum of squares
// is the point with the largest likelihood.
func (e *evaluator) residuals(likelihood func() outcome) func(x, dst []float64) bool {
	return func(x, dst []float64) bool {
		if !e.at(x) {
			return false
		}
		o := likelihood()
		if math.IsNaN(o.squares) || o.n == 0 {
			return false
		}
		clear(dst)
		copy(dst, e.white[0][:o.n])
		e.subtract(dst[:o.n], e.distance)
		floats.Scale(math.Exp(o.logs/float64(2*o.n)), dst)
		return true
	}
}

// gainAtStart writes the covariances of the state of the next step with the present w to dst, and returns the variance of w, both before
// any observation. Let x be the autoregression without the moving average, so that w = θ(B)x. The autocovariances of x come from its
// partial autocorrelations (Levinson 1947, run backwards) without solving a system, which is accurate near a unit root. The autocovariances
// of w are sums of them over θ. Element i of the state is −Σ a(k)·w(t−k+i) + Σ θ(k)·ε(t−k+i) over the lags k ≥ i. The covariance of w with
// a past ε is the weight ψ of this ε.
func (p *process) gainAtStart(dst []float64) (variance float64) {
	long, wide := p.ar.degree(), p.ma.degree()
	n := long + wide + 1
	x, half, psi := p.room[:n], p.room[n:2*n], p.room[2*n:2*n+wide+1]
	p.autocovariances(x, p.room[3*n:3*n+2*long])
	for k := range half {
		half[k] = x[k]
		for i, lag := range p.ma.lags {
			half[k] += p.ma.coef[i] * x[max(k-lag, lag-k)]
		}
	}
	w := p.variances
	for k := range w {
		w[k] = half[k]
		for i, lag := range p.ma.lags {
			w[k] += p.ma.coef[i] * half[k+lag]
		}
	}
	p.weights(psi)
	clear(dst)
	for i, lag := range p.ar.lags {
		for j := range lag {
			dst[j] -= p.ar.coef[i] * w[lag-1-j]
		}
	}
	for i, lag := range p.ma.lags {
		for j := range lag {
			dst[j] += p.ma.coef[i] * psi[lag-1-j]
		}
	}
	return w[0]
}

// weights writes the weights ψ of the innovations in w to dst. The first one is the weight of the present innovation, which is 1.
func (p *process) weights(psi []float64) {
	for k := range psi {
		psi[k] = 0
		if k < len(p.ma.dense) {
			psi[k] = p.ma.dense[k]
		}
		for i, lag := range p.ar.lags {
			if lag > k {
				break
			}
			psi[k] -= p.ar.coef[i] * psi[k-lag]
		}
	}
}

// autocovariances writes the autocovariances of the autoregression without the moving average, with unit innovations, at the lags 0 …
// len(dst)−1. work is scratch memory for two autoregressions.
func (p *process) autocovariances(dst, work []float64) {
	n := len(p.partial)
	lower, room := work[:n], work[n:2*n]
	remaining := spread(p.partial)
	dst[0] = remaining
	for k := 1; k < len(dst); k++ {
		if k > n {
			dst[k] = 0
			for i, lag := range p.ar.lags {
				dst[k] -= p.ar.coef[i] * dst[k-lag]
			}
			continue
		}
		// The autocovariance at lag k is the forecast of the autoregression of order k−1, plus the contribution of the partial
		// autocorrelation.
		r := p.partial[k-1]
		dst[k] = lagged(lower[:k-1], dst[:k]) + r*remaining
		remaining *= (1 - r) * (1 + r)
		copy(room, lower[:k-1])
		for j := range k - 1 {
			lower[j] = room[j] - r*room[k-2-j]
		}
		lower[k-1] = r
	}
}

// lagged returns Σ c[j]·past[len(past)−1−j].
func lagged(c, past []float64) float64 {
	sum := 0.0
	for j, v := range c {
		sum += v * past[len(past)-1-j]
	}
	return sum
}

// collinear is the share of a column below which only rounding errors are left of it.
const collinear = 1e-10

// constantAt returns the contribution of a constant of 1 to the series at a step: a mean without differences, and a drift with one
// difference. The first step is 1.
func (o Order) constantAt(step int) float64 {
	if o.differences() == 0 {
		return 1
	}
	return float64(step)
}

// regression is the regression of the series on its constant. The column is scaled to unit deviation of its differences, so that the
// generalized least squares do not lose digits.
type regression struct {
	differenced, level []float64
	// weight is the weight of the constant in the column.
	weight float64
	// first is the coefficient of the column in the regression that was removed from the series.
	first float64
}

// newRegression changes the column in place. If the differences leave only rounding errors of the column, it becomes 0. No series can
// determine its coefficient, which stays 0.
func newRegression(differenced, level []float64) *regression {
	norm := floats.Norm(differenced, 2)
	unit := math.Sqrt(float64(len(differenced))) / norm
	if !(norm > collinear*floats.Norm(level, 2)) {
		unit = 0
	}
	floats.Scale(unit, differenced)
	floats.Scale(unit, level)
	return &regression{differenced: differenced, level: level, weight: unit}
}

// remove removes the ordinary least-squares regression from a series, which is given as differences and as levels.
func (r *regression) remove(differenced []float64, levels ...[]float64) {
	r.first = floats.Dot(r.differenced, differenced) / math.Max(float64(len(differenced)), 1)
	floats.AddScaled(differenced, -r.first, r.differenced)
	for _, level := range levels {
		floats.AddScaled(level, -r.first, r.level)
	}
}

// constant returns the constant for a coefficient at a distance from the first one.
func (r *regression) constant(distance float64) float64 {
	if r == nil {
		return 0
	}
	return (r.first + distance) * r.weight
}

// distance is the inverse of constant.
func (r *regression) distance(constant float64) float64 {
	if r == nil || r.weight == 0 {
		return 0
	}
	return constant/r.weight - r.first
}

// project returns the least-squares regression of a whitened series on a whitened column: the coefficient, and the sum of squares that is
// left, or NaN if only rounding errors would be left.
func project(y, x []float64) (coefficient, rest float64) {
	squares := floats.Dot(y, y)
	own, cross := floats.Dot(x, x), floats.Dot(x, y)
	if root := math.Sqrt(own); root*root > collinear*own {
		coefficient = cross / root / root
	}
	rest = squares - cross*coefficient
	if rest < cancelled*squares {
		rest = math.NaN()
	}
	return coefficient, rest
}
