package arima

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// most is the number of unknowns that a filter keeps separate, if its state has more elements than that. fewest is this number while a
	// search makes many passes.
	most, fewest = 48, 4
	// forgotten is the effect on the state, in deviations of an innovation, below which an unknown is dropped. The square of the effect is
	// its contribution to a variance.
	forgotten = 1e-9
	// wide is the deviation of an unknown initial value of the differences, in deviations of an innovation. diffuse is the variance from
	// which on an observation only determines such a value.
	wide    = 1e7
	diffuse = 1e11
)

// filter is the Kalman filter of a process (Harvey 1989, ch. 3) on a series with gaps, one step at a time.
//
// Its covariance is the covariance for a series without gaps, which the gain represents, plus the unknowns: for each missing value, a
// column with the effect of the value's innovation on the state. A gap adds a column, and an observation shrinks all columns. When no
// column is left, the filter is the same as for a series without gaps. So the cost of a gap is proportional to the size of the state and
// not to its square, and no subtraction can make a variance negative.
type filter struct {
	gain
	// means are the states of the series that are filtered in parallel, each at the next step.
	means [][]float64
	// columns[:active] are the unknowns. The other columns are unused memory.
	columns [][]float64
	active  int
	// responses are the contributions of the columns to the next observation. moved is scratch memory for a state.
	responses, moved []float64
}

// newFilter returns a filter for a number of series that keeps a number of unknowns separate. More unknowns than the state has elements are
// not useful.
func newFilter(p *process, series, unknowns int) *filter {
	capacity := min(p.size, unknowns) + 1
	f := &filter{
		gain: newGain(p), means: make([][]float64, series), columns: make([][]float64, capacity),
		responses: make([]float64, capacity), moved: make([]float64, p.size),
	}
	for i := range f.means {
		f.means[i] = make([]float64, p.size)
	}
	for i := range f.columns {
		f.columns[i] = make([]float64, p.size)
	}
	return f
}

// start moves the filter to the step after the initial values of the differences. starts are the initial values of each series, and missing
// reports which of them are unknown.
func (f *filter) start(starts [][]float64, missing func(t int) bool) {
	f.gain.begin()
	f.active = 0
	n := f.delta.degree()
	for i, mean := range f.means {
		clear(mean)
		for t := range n {
			mean[f.reach+n-1-t] = starts[i][t]
		}
	}
	for t := range n {
		if missing(t) {
			f.add()[f.reach+n-1-t] = wide
		}
	}
}

// add adds and returns a column of zeros.
func (f *filter) add() []float64 {
	if f.active == len(f.columns) {
		f.fold()
	}
	f.active++
	clear(f.columns[f.active-1])
	return f.columns[f.active-1]
}

// take moves the filter over a step that was observed. It writes the differences between the values and their forecasts, and returns the
// variance of these differences.
func (f *filter) take(values, surprises []float64) (variance float64) {
	unknown := 0.0
	for j, column := range f.columns[:f.active] {
		f.responses[j] = f.expected(column)
		unknown += f.responses[j] * f.responses[j]
		f.observe(column, 0, -f.responses[j])
	}
	for i, mean := range f.means {
		surprises[i] = values[i] - f.expected(mean)
		f.observe(mean, values[i], surprises[i])
	}
	total := f.variance + unknown
	if unknown > 0 {
		f.learn(surprises, unknown, total)
	}
	f.forget()
	f.advance()
	return total
}

// observe moves a state over a step with the value y, which differs from its forecast by surprise.
func (f *filter) observe(state []float64, y, surprise float64) {
	if !f.steady {
		f.move(state, state[0], y)
		floats.AddScaled(state[:f.reach], surprise/f.variance, f.with)
		return
	}
	f.move(state, state[0]+surprise, y)
	for i, lag := range f.ma.lags {
		state[lag-1] += f.ma.coef[i] * surprise
	}
}

// learn updates the means with what the surprises say about the unknowns, and shrinks the columns accordingly.
func (f *filter) learn(surprises []float64, unknown, total float64) {
	clear(f.moved)
	for j, column := range f.columns[:f.active] {
		floats.AddScaled(f.moved, f.responses[j], column)
	}
	for i, mean := range f.means {
		floats.AddScaled(mean, surprises[i]/total, f.moved)
	}
	shrink := (1 - math.Sqrt(f.variance/total)) / unknown
	for j, column := range f.columns[:f.active] {
		floats.AddScaled(column, -shrink*f.responses[j], f.moved)
	}
}

// forget drops the columns that have become negligible.
func (f *filter) forget() {
	for j := f.active - 1; j >= 0; j-- {
		if square(f.columns[j]) < forgotten*forgotten {
			f.active--
			f.columns[j], f.columns[f.active] = f.columns[f.active], f.columns[j]
		}
	}
}

func square(column []float64) float64 { return floats.Dot(column, column) }

// miss moves the filter over a step without an observation.
func (f *filter) miss() {
	for _, column := range f.columns[:f.active] {
		f.move(column, column[0], f.expected(column))
	}
	for _, mean := range f.means {
		f.move(mean, mean[0], f.expected(mean))
	}
	f.gain.effect(f.add())
	f.advance()
}

// fold frees a column. If there are more columns than elements of the state, rotations set the last column to 0. Otherwise, the unknown
// with the smallest effect is treated as known.
func (f *filter) fold() {
	f.active--
	last := f.active
	if last < f.size {
		least, smallest := 0, math.Inf(1)
		for j, column := range f.columns[:f.active+1] {
			if v := square(column); v < smallest {
				least, smallest = j, v
			}
		}
		f.columns[least], f.columns[last] = f.columns[last], f.columns[least]
		return
	}
	for i := range f.size {
		for j := i + 1; j <= last; j++ {
			turn(f.columns[i], f.columns[j], i)
		}
	}
}

// turn rotates two columns so that element i of the second one becomes 0 (Givens 1958).
func turn(a, b []float64, i int) {
	if b[i] == 0 {
		return
	}
	radius := math.Hypot(a[i], b[i])
	cosine, sine := a[i]/radius, b[i]/radius
	for k, v := range a {
		a[k], b[k] = cosine*v+sine*b[k], cosine*b[k]-sine*v
	}
	b[i] = 0
}

const (
	// converged is how close the variance of the next value must be to the variance of an innovation, so that the gain is frozen.
	converged = 1e-9
	// rounding is the share of the first variance that rounding errors of the recursion can add to later variances.
	rounding = 4e-16
)

// gain is the gain of the Kalman filter of an ARMA that is observed at every step. At the start, nothing is known.
//
// The covariance of the state itself is never formed. Because the start is stationary, the covariances of two successive steps differ by a
// matrix of rank one (Morf, Sidhu & Kailath 1974; Pearlman 1980 for ARMA). So each step is only a rotation of two vectors, which costs r,
// while the recursion of the covariance costs r². If l is the next element of the second vector and F is the variance, ρ = l/F is the
// partial autocorrelation of w at that lag, and F(1 − ρ²) is the next variance. No subtraction can cancel digits.
//
// The variances decrease toward 1. Once a variance has reached 1, all later ones are 1, too, and the gain is the gain of the innovations
// form, (φ + θ).
type gain struct {
	*process
	// with are the covariances of the next state with the present surprise. next is the next change of these covariances.
	with, next []float64
	// variance is the variance of the next w, given all values before it.
	variance float64
	// enough is the variance at which the gain is frozen.
	enough float64
	age    int
	steady bool
}

func newGain(p *process) gain {
	return gain{process: p, with: make([]float64, p.reach), next: make([]float64, p.reach)}
}

// begin sets the gain to the first step.
func (g *gain) begin() {
	g.variance = g.gainAtStart(g.with)
	copy(g.next, g.with)
	g.enough = 1 + math.Max(converged, rounding*g.variance)
	g.age, g.steady = 0, false
	g.settle()
}

// freeze sets the gain to its limit after many steps.
func (g *gain) freeze() {
	clear(g.with)
	for i, lag := range g.ar.lags {
		g.with[lag-1] -= g.ar.coef[i]
	}
	for i, lag := range g.ma.lags {
		g.with[lag-1] += g.ma.coef[i]
	}
	g.variance, g.steady = 1, true
}

// settle freezes the gain if it has converged. The gain of an autoregression has converged after as many values as it has terms.
func (g *gain) settle() {
	if g.variance <= g.enough || g.ma.degree() == 0 && g.age >= g.ar.degree() {
		g.freeze()
	}
}

// advance moves the gain one step forward.
func (g *gain) advance() {
	if g.steady {
		return
	}
	g.age++
	first := g.next[0]
	copy(g.next, g.next[1:])
	g.next[len(g.next)-1] = 0
	for i, lag := range g.ar.lags {
		g.next[lag-1] -= g.ar.coef[i] * first
	}
	rho := first / g.variance
	g.variance *= (1 - rho) * (1 + rho)
	rotate(g.with, g.next, rho)
	g.settle()
}

// effect adds the effect of one deviation of the present innovation to a state.
func (g *gain) effect(state []float64) {
	deviation := math.Sqrt(g.variance)
	for i, v := range g.with {
		state[i] += v / deviation
	}
	if len(state) > g.reach {
		state[g.reach] += deviation
	}
}

// clone returns an independent copy.
func (g *gain) clone() gain {
	out := *g
	out.with, out.next = slices.Clone(g.with), slices.Clone(g.next)
	return out
}

// rotate replaces a and b with a − ρb and b − ρa.
func rotate(a, b []float64, rho float64) {
	b = b[:len(a)]
	for i, v := range a {
		w := b[i]
		a[i] = v - rho*w
		b[i] = w - rho*v
	}
}

// fromPartial converts partial autocorrelations to the coefficients of the autoregression that has them (Durbin 1960; Monahan 1984). Any
// partial autocorrelations within (−1, 1) result in a stationary autoregression. len(coefficients) = len(partial). work is scratch memory
// of the same size.
func fromPartial(partial, coefficients, work []float64) {
	for k, reflection := range partial {
		copy(work, coefficients[:k])
		for j := range k {
			coefficients[j] = work[j] - reflection*work[k-1-j]
		}
		coefficients[k] = reflection
	}
}

// toPartial is the inverse of fromPartial. It returns false if the autoregression is not stationary. work is scratch memory for two
// autoregressions.
func toPartial(coefficients, partial, work []float64) bool {
	n := len(coefficients)
	current, previous := work[:n], work[n:2*n]
	copy(current, coefficients)
	for k := n - 1; k >= 0; k-- {
		reflection := current[k]
		if !(math.Abs(reflection) < 1) {
			return false
		}
		partial[k] = reflection
		if reflection == 0 {
			continue
		}
		copy(previous, current[:k])
		share := 1 / ((1 - reflection) * (1 + reflection))
		for j := range k {
			current[j] = (previous[j] + reflection*previous[k-1-j]) * share
		}
	}
	return true
}

// stationary reports whether all roots of 1 − sign·(c₁z + … + cₙzⁿ) are outside the circle with the radius.
func stationary(coefficients []float64, sign, radius float64) bool {
	scaled := make([]float64, len(coefficients))
	power := sign
	for i, c := range coefficients {
		power *= radius
		scaled[i] = c * power
	}
	return toPartial(scaled, make([]float64, len(scaled)), make([]float64, 2*len(scaled)))
}

// spread returns the variance of the autoregression that has unit innovations and the given partial autocorrelations.
func spread(partial []float64) float64 {
	variance := 1.0
	for _, r := range partial {
		variance /= (1 - r) * (1 + r)
	}
	return variance
}
