package arima

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// minVariance keeps the logarithm of the innovations' variance finite where a model reproduces the scaled series.
	minVariance = 1e-18
	// cancelled is the share of a sum below which a difference of sums is rounding.
	cancelled = 1e-12
	// farthest bounds the search: tanh(7) leaves 1.7e-6 to a unit root.
	farthest = 7
)

// evaluator computes the likelihood of the problem's series, again and again as the search asks.
type evaluator struct {
	*problem
	*process
	whitener *whitener
	// filter does the whitener's work where there are gaps; starts are the values with which its differences start.
	filter *filter
	starts [][]float64
	// white are the innovations of the series and of its constant's column, over their deviations.
	white [][]float64
	// distance is the regression's coefficient at the point under test.
	distance float64
	row      []float64
	surprise []float64
	// partials is the point under test.
	partials []float64
}

// outcome is what a likelihood comes to at a point: the sum of squared innovations, the sum of the logarithms of their
// variances, and how many there are.
type outcome struct {
	squares, logs float64
	n             int
}

// variance is the estimate of the innovations' variance, in scaled units.
func (o outcome) variance() float64 { return math.Max(o.squares/float64(o.n), minVariance) }

// objective is minus the log-likelihood of an observation, but for constants. NaN means that the digits were lost; the
// search takes that for outside the domain.
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

// affordable is how many multiplications or so a pass may take that a search makes a hundred times.
const affordable = 2e6

// begins makes the filter for a series with gaps. Where a search could not afford all that is unknown, it knows less.
func (e *evaluator) begins() {
	e.starts = append([][]float64{e.filled}, e.levels[1:]...)
	e.filter = newFilter(e.process, len(e.levels), max(fewest, min(affordable/e.unknownCost(), most)))
}

// widen makes the filter for a single pass, which can afford more.
func (e *evaluator) widen() {
	if e.gaps {
		e.filter = newFilter(e.process, len(e.levels), most)
	}
}

// unknownCost is that of an unknown in a pass.
func (e *evaluator) unknownCost() int { return 3 * len(e.filled) * e.size }

// searchable means that the exact likelihood can be searched in the time that a fit may take. Else the coefficients are
// those of conditional least squares, as good on the thousands of values that this takes.
func (e *evaluator) searchable() bool {
	if e.gaps {
		return fewest*e.unknownCost() <= 5*affordable
	}
	return len(e.filled)*e.reach <= 20*affordable
}

func (e *evaluator) missing(t int) bool { return math.IsNaN(e.levels[0][t]) }

// walk whitens a series with gaps; there is a row for each observation that is not used up by an unknown start.
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

// exact is the likelihood with the process as it is set.
func (e *evaluator) exact() outcome {
	o := outcome{n: len(e.white[0])}
	if e.gaps {
		o.logs, o.n = e.walk()
	} else {
		o.logs = e.whitener.exact(e.differenced, e.white)
	}
	return e.regress(o)
}

// conditional is the sum of squares from a start at 0, gaps bridged.
func (e *evaluator) conditional() outcome {
	e.whitener.conditional(e.differenced, e.white)
	return e.regress(outcome{n: len(e.white[0])})
}

// regress takes the best regression out of the innovations.
func (e *evaluator) regress(o outcome) outcome {
	if len(e.white) == 1 {
		o.squares = floats.Dot(e.white[0][:o.n], e.white[0][:o.n])
		return o
	}
	e.distance, o.squares = project(e.white[0][:o.n], e.white[1][:o.n])
	return o
}

// at sets the process to the partial autocorrelations tanh(x). False means that it cannot be computed with.
func (e *evaluator) at(x []float64) bool {
	for i, v := range x {
		e.partials[i] = math.Tanh(math.Max(-farthest, math.Min(v, farthest)))
	}
	return e.setPartial(e.partials)
}

// objective is that of the exact likelihood at a point of the search.
func (e *evaluator) objective(x []float64) float64 {
	if !e.at(x) {
		return math.Inf(1)
	}
	return e.exact().objective()
}

// exactAt is the exact likelihood at a point inside the domain.
func (e *evaluator) exactAt(x []float64) outcome {
	e.at(x)
	return e.exact()
}

// residuals writes the innovations at a point, with the determinant spread over them, so that the point of their least
// sum of squares is that of the greatest likelihood.
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

// gainAtStart writes to dst the covariances of the state of the coming step with the present w, and returns the variance
// of w, where nothing has been observed yet. With x the autoregression alone and w = θ(B)x, the autocovariances of x come
// from its partial autocorrelations (Levinson 1947, run backwards) without solving a system, which holds near a unit root;
// those of w are sums of them over θ. Element i of the state is −Σ a(k)·w(t−k+i) + Σ θ(k)·ε(t−k+i) over the lags k ≥ i,
// and the covariance of w with a past ε is the weight ψ of that.
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

// weights writes the weights ψ of the innovations in w, from that of the present, 1, to dst.
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

// autocovariances writes those of the autoregression alone, with unit innovations, at lags 0 … len(dst)−1. work is room
// for two autoregressions.
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
		// The autocovariance at lag k is what the autoregression of order k−1 forecasts, plus its partial's share.
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

// lagged is Σ c[j]·past[len(past)−1−j].
func lagged(c, past []float64) float64 {
	sum := 0.0
	for j, v := range c {
		sum += v * past[len(past)-1-j]
	}
	return sum
}

// collinear is the share of a column below which nothing but rounding is left of it.
const collinear = 1e-10

// constantAt is what the series has of its constant at a step, the first of which is 1: a mean without differences, a drift
// with one.
func (o Order) constantAt(step int) float64 {
	if o.differences() == 0 {
		return 1
	}
	return float64(step)
}

// regression is that of the series on its constant. The column is brought to unit deviation of its differences, so that the
// generalised least squares keep their digits.
type regression struct {
	differenced, level []float64
	// weight is that of the constant in the column.
	weight float64
	// first is the coefficient, of the column, of the regression that was taken out of the series.
	first float64
}

// newRegression changes the column in place. One of which the differences leave nothing becomes 0: no series can tell its
// coefficient, which stays 0.
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

// remove takes the ordinary regression out of a series, given as its differences and as levels.
func (r *regression) remove(differenced []float64, levels ...[]float64) {
	r.first = floats.Dot(r.differenced, differenced) / math.Max(float64(len(differenced)), 1)
	floats.AddScaled(differenced, -r.first, r.differenced)
	for _, level := range levels {
		floats.AddScaled(level, -r.first, r.level)
	}
}

// constant is that where the coefficient lies at a distance from the first.
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

// project is the least-squares regression of a whitened series on a whitened column: the coefficient, and the sum of squares
// that is left, or NaN where nothing but rounding would be left of it.
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
