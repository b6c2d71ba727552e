package arima

import "math"

// converged is how near to its limit every element of the covariance must be for the gain to be frozen. A thousand
// innovations with variances off by this much move the log-likelihood by less than 1e-6.
const converged = 1e-9

// filter is the Kalman filter of a process (Harvey 1989, ch. 3). It owns the covariance, which all series filtered side
// by side share; their means are passed in. Between calls covariance and means are those of the coming step, given
// everything before it.
type filter struct {
	*process
	cov, work []float64
	// gain is the covariance of the state with the coming observation, variance that of the observation itself.
	gain     []float64
	variance float64
	// steady says that the covariance has reached its limit, RRᵀ with R = (1, θ, 0): then cov is not kept.
	steady bool
}

func newFilter(p *process) *filter {
	return &filter{
		process: p, cov: make([]float64, p.m*p.m), work: make([]float64, p.m*p.m), gain: make([]float64, p.m),
	}
}

// start puts the filter at its first step, where the last d values are known and nothing else is.
func (f *filter) start() {
	f.initialCovariance(f.cov)
	f.steady = false
}

// expected is the coming value, but for the constant, as the state sees it.
func (f *filter) expected(state []float64) float64 {
	sum := state[0]
	for j, c := range f.delta {
		sum += c * state[f.r+j]
	}
	return sum
}

// weigh computes gain and variance for the coming observation. The variance is never below 1, that of the innovation.
func (f *filter) weigh() {
	for i := range f.m {
		f.gain[i] = f.expected(f.cov[i*f.m : (i+1)*f.m])
	}
	f.variance = math.Max(f.expected(f.gain), 1)
}

// observe takes the information of an observation out of the covariance. weigh came before it.
func (f *filter) observe() {
	for i, a := range f.gain {
		row := f.cov[i*f.m : (i+1)*f.m]
		scaled := a / f.variance
		for j, b := range f.gain {
			row[j] -= scaled * b
		}
	}
}

// advance moves the covariance one step on: T·cov·Tᵀ + RRᵀ.
func (f *filter) advance() {
	m := f.m
	for range 2 {
		// One pass transposes and applies T to the columns; two passes make T·cov·Tᵀ.
		for i := range m {
			row := f.work[i*m : (i+1)*m]
			for j := range m {
				row[j] = f.cov[j*m+i]
			}
			f.shift(row, f.expected(row))
		}
		f.cov, f.work = f.work, f.cov
	}
	f.temper()
	for i, a := range f.ma {
		for j, b := range f.ma {
			f.cov[i*m+j] += a * b
		}
	}
}

// temper undoes what rounding did to the covariance where it cannot be one: a variance below 0, a covariance beyond the
// two variances. Both arise near a unit root of the moving average, where a variance falls from 1e8 to 10 within a
// step, and left alone they grow without bound.
func (f *filter) temper() {
	m := f.m
	for i := range m {
		f.cov[i*m+i] = math.Max(f.cov[i*m+i], 0)
	}
	for i := range m {
		for j := range i {
			v, bound := f.cov[i*m+j], f.cov[i*m+i]*f.cov[j*m+j]
			if v*v > bound {
				v = math.Copysign(math.Sqrt(bound), v)
			}
			f.cov[i*m+j], f.cov[j*m+i] = v, v
		}
	}
}

// shift moves a state one step on in place; value is the value that the step had.
func (f *filter) shift(state []float64, value float64) {
	first := state[0]
	last := f.r - 1
	for i := range last {
		state[i] = f.ar[i]*first + state[i+1]
	}
	state[last] = f.ar[last] * first
	for j := f.m - 1; j > f.r; j-- {
		state[j] = state[j-1]
	}
	if f.m > f.r {
		state[f.r] = value
	}
}

// settle freezes the gain if the covariance has reached its limit.
func (f *filter) settle() {
	for i := range f.m {
		for j := 0; j <= i; j++ {
			limit := 0.0
			if i < f.r {
				limit = f.ma[i] * f.ma[j]
			}
			if math.Abs(f.cov[i*f.m+j]-limit) > converged {
				return
			}
		}
	}
	f.steady = true
}

// thaw writes the covariance out again, because a missing value is about to move it.
func (f *filter) thaw() {
	f.steady = false
	clear(f.cov)
	for i, a := range f.ma {
		for j, b := range f.ma {
			f.cov[i*f.m+j] = a * b
		}
	}
}

// miss moves covariance and state over a step without an observation.
func (f *filter) miss(state []float64, constant float64) {
	if f.steady {
		f.thaw()
	}
	f.advance()
	f.shift(state, f.expected(state)+constant)
}

// take moves covariance and state over a step whose value was y.
func (f *filter) take(state []float64, y, constant float64) {
	surprise := y - constant - f.expected(state)
	if f.steady {
		f.glide(state, surprise, y)
		return
	}
	f.weigh()
	f.correct(state, surprise)
	f.observe()
	f.shift(state, y)
	f.advance()
	f.settle()
}

// correct brings a surprise into the state. weigh came before it.
func (f *filter) correct(state []float64, surprise float64) {
	k := surprise / f.variance
	for i, g := range f.gain {
		state[i] += g * k
	}
}

// glide is correct and shift with the frozen gain (1, θ).
func (f *filter) glide(state []float64, surprise, y float64) {
	for i, c := range f.ma {
		state[i] += c * surprise
	}
	f.shift(state, y)
}
