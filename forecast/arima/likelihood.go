package arima

import "math"

// leastVariance keeps the logarithm of the innovations' variance finite where a model reproduces the scaled series.
const leastVariance = 1e-18

// cancelled is the share of a sum below which a difference of sums is rounding.
const cancelled = 1e-12

// moment is what a pass over the series leaves of it: with v the innovations of the series and u those of a constant 1,
// both divided by the innovations' standard deviation, the sums of v², vu and u², and that of the log variances.
type moment struct {
	vv, vu, uu, logs float64
}

// constant is the generalised least-squares estimate of the constant.
func (m moment) constant() float64 {
	if !(m.uu > 0) {
		return 0
	}
	return m.vu / m.uu
}

// deviance is the sum of the squared innovations once the constant is taken out, or NaN where nothing but rounding
// would be left of it.
func (m moment) deviance(constant float64) float64 {
	rest := m.vv - constant*(2*m.vu-constant*m.uu)
	if rest < cancelled*m.vv {
		return math.NaN()
	}
	return rest
}

// evaluator passes the problem's series through a filter, again and again as the search asks.
type evaluator struct {
	*problem
	*filter
	// state and unit are the filter's means for the series and for a constant 1.
	state, unit []float64
	// partials is room for the point of the search under test.
	partials []float64
}

func newEvaluator(pr *problem) *evaluator {
	p := newProcess(pr.order)
	return &evaluator{
		problem: pr, filter: newFilter(p), state: make([]float64, p.m), unit: make([]float64, p.m),
		partials: make([]float64, pr.order.P+pr.order.Q),
	}
}

// begin puts filter and states at the first step.
func (e *evaluator) begin() {
	e.start()
	clear(e.state)
	clear(e.unit)
	for j := range e.delta {
		e.state[e.r+j] = e.values[e.first-1-j]
	}
}

// pass is one run over the series.
func (e *evaluator) pass() moment {
	e.begin()
	var sum moment
	for t := e.first; t < len(e.values); {
		if e.steady && !math.IsNaN(e.differenced[t]) {
			t = e.glideAll(t, &sum)
			continue
		}
		e.stepOn(t, &sum)
		t++
	}
	return sum
}

// stepOn is one full step of the filter.
func (e *evaluator) stepOn(t int, sum *moment) {
	y := e.values[t]
	if math.IsNaN(y) {
		e.miss(e.state, e.level)
		e.shift(e.unit, e.expected(e.unit)-1)
		return
	}
	if e.steady {
		e.thaw()
	}
	e.weigh()
	v, u := y-e.level-e.expected(e.state), 1-e.expected(e.unit)
	sum.vv += v * v / e.variance
	sum.vu += v * u / e.variance
	sum.uu += u * u / e.variance
	sum.logs += math.Log(e.variance)
	e.correct(e.state, v)
	e.correct(e.unit, u)
	e.observe()
	e.shift(e.state, y)
	e.shift(e.unit, 0)
	e.advance()
	e.settle()
}

// glideAll runs with the frozen gain from t to the next gap or the end, and returns where it stopped. It works on the
// differences, so that the known last values need no part in it.
func (e *evaluator) glideAll(t int, sum *moment) int {
	end := t
	for end < len(e.differenced) && !math.IsNaN(e.differenced[end]) {
		end++
	}
	if e.order.Constant {
		e.glideBoth(e.differenced[t:end], sum)
	} else {
		sum.vv += e.glideOne(e.differenced[t:end])
	}
	for j := range e.delta {
		e.state[e.r+j] = e.values[end-1-j]
		e.unit[e.r+j] = 0
	}
	return end
}

// glideOne is the sum of the squared innovations of w under the frozen gain.
func (e *evaluator) glideOne(w []float64) float64 {
	last := e.r - 1
	state, ar, ma := e.state[:last+1], e.ar[:last+1], e.ma[:last+1]
	sum := 0.0
	for _, y := range w {
		v := y - state[0]
		sum += v * v
		for i := range last {
			state[i] = ar[i]*y + ma[i+1]*v + state[i+1]
		}
		state[last] = ar[last] * y
	}
	return sum
}

// glideBoth is glideOne for the series and the constant at once.
func (e *evaluator) glideBoth(w []float64, sum *moment) {
	last := e.r - 1
	state, unit, ar, ma := e.state[:last+1], e.unit[:last+1], e.ar[:last+1], e.ma[:last+1]
	for _, y := range w {
		v, u := y-state[0], 1-unit[0]
		sum.vv += v * v
		sum.vu += v * u
		sum.uu += u * u
		for i := range last {
			state[i] = ar[i]*y + ma[i+1]*v + state[i+1]
			unit[i] = ar[i] + ma[i+1]*u + unit[i+1]
		}
		state[last] = ar[last] * y
		unit[last] = ar[last]
	}
}

// objective is minus the log-likelihood of an observation, but for constants, with constant and variance at their best
// for the partial autocorrelations tanh(x).
func (e *evaluator) objective(x []float64) float64 {
	if !e.setPartial(e.squash(x)) {
		return math.Inf(1)
	}
	return e.score(e.pass())
}

// score is NaN where the pass lost its digits; the search takes that for outside the domain.
func (e *evaluator) score(m moment) float64 {
	return 0.5 * (math.Log(e.varianceOf(m)) + m.logs/float64(e.used))
}

// varianceOf is the estimate of the innovations' variance, in scaled units.
func (e *evaluator) varianceOf(m moment) float64 {
	return math.Max(m.deviance(e.best(m))/float64(e.used), leastVariance)
}

// best is the estimate of the constant's distance from the level.
func (e *evaluator) best(m moment) float64 {
	if !e.order.Constant {
		return 0
	}
	return m.constant()
}

// farthest bounds the search: tanh(7) leaves 1.7e-6 to a unit root.
const farthest = 7

// squash is the partial autocorrelations for a point of the search. The slice is reused.
func (e *evaluator) squash(x []float64) []float64 {
	for i, v := range x {
		e.partials[i] = math.Tanh(math.Max(-farthest, math.Min(v, farthest)))
	}
	return e.partials
}
