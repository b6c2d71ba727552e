package arima

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// most is how many unknowns a filter keeps apart, where its state has more elements than that; fewest is how many
	// it does where a search makes many passes.
	most, fewest = 48, 4
	// forgotten is the effect on the state, in deviations of an innovation, below which an unknown is dropped. Its
	// square is what a variance would have shown of it.
	forgotten = 1e-9
	// wide is the deviation, in those of an innovation, of a value with which the differences start and of which
	// nothing is known; diffuse is the variance from which on an observation does nothing but make such a value known.
	wide    = 1e7
	diffuse = 1e11
)

// filter is the Kalman filter of a process (Harvey 1989, ch. 3) on a series with gaps, one step at a time.
//
// Its covariance is that of a series without gaps, of which the gain takes care, plus what is unknown: for each missing
// value a column with the effect of that value's innovation on the state. A gap adds a column, an observation shrinks
// all of them, and where none is left the filter is that of a series without gaps. So a gap costs a multiple of the
// state's size and not of its square, and nothing is subtracted that could turn a variance negative.
type filter struct {
	gain
	// means are the states of the series that are filtered side by side, each at the coming step.
	means [][]float64
	// columns[:active] are the unknowns; the others are room.
	columns [][]float64
	active  int
	// responses are the columns' shares in the coming observation; moved is room for a state.
	responses, moved []float64
}

// newFilter makes a filter for a number of series that keeps a number of unknowns apart; no more are of use than the
// state has elements.
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

// start puts the filter behind the values with which the differences start; those of starts are the series'. missing
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

// add is one more column, all 0.
func (f *filter) add() []float64 {
	if f.active == len(f.columns) {
		f.fold()
	}
	f.active++
	clear(f.columns[f.active-1])
	return f.columns[f.active-1]
}

// take moves the filter over a step that was observed. It writes how far the values lay from what was expected of them
// and returns the variance of that.
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

// observe moves a state over a step with the value y, which surprised it.
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

// learn brings into the means what the surprises say about the unknowns, and takes as much out of the columns.
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

// forget drops the columns of which nothing is left.
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

// fold makes room for a column. Where there are more columns than elements of the state, rotations empty the last one.
// Else the unknown of the least effect is taken for known.
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

// turn rotates two columns so that element i of the second vanishes (Givens 1958).
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
	// converged is how near to that of an innovation the variance of the coming value must be for the gain to be frozen.
	converged = 1e-9
	// rounding is the share of the first variance that the last digits of the recursion can add to later ones.
	rounding = 4e-16
)

// gain is the gain of the Kalman filter of an ARMA that is observed at every step, from a start at which nothing is known.
//
// The covariance of the state itself is never formed. As the start is stationary, the covariances of two steps differ by
// a matrix of rank one (Morf, Sidhu & Kailath 1974; Pearlman 1980 for ARMA), and what is left is a rotation of two vectors
// a step, at a cost of r where the covariance's own recursion costs r². With l the coming element of the second vector,
// ρ = l/F is the partial autocorrelation of w at that lag, F(1 − ρ²) the next variance: nothing is subtracted that could
// cancel.
//
// The variances fall towards 1. Where one has arrived there, all later ones have, and the gain is that of the innovations
// form, (φ + θ).
type gain struct {
	*process
	// with are the covariances of the next state with the present surprise; next is the change that is to come.
	with, next []float64
	// variance is that of the coming w given all before it.
	variance float64
	// enough is the variance at which the gain is frozen.
	enough float64
	age    int
	steady bool
}

func newGain(p *process) gain {
	return gain{process: p, with: make([]float64, p.reach), next: make([]float64, p.reach)}
}

// begin puts the gain at the first step.
func (g *gain) begin() {
	g.variance = g.gainAtStart(g.with)
	copy(g.next, g.with)
	g.enough = 1 + math.Max(converged, rounding*g.variance)
	g.age, g.steady = 0, false
	g.settle()
}

// freeze puts the gain where it ends after many steps.
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

// settle freezes the gain where it has arrived. An autoregression has when it has seen as many values as it has terms.
func (g *gain) settle() {
	if g.variance <= g.enough || g.ma.degree() == 0 && g.age >= g.ar.degree() {
		g.freeze()
	}
}

// advance moves the gain one step on.
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

// effect adds to a state what one deviation of the present innovation does to it.
func (g *gain) effect(state []float64) {
	deviation := math.Sqrt(g.variance)
	for i, v := range g.with {
		state[i] += v / deviation
	}
	if len(state) > g.reach {
		state[g.reach] += deviation
	}
}

// clone is a gain that moves on by itself.
func (g *gain) clone() gain {
	out := *g
	out.with, out.next = slices.Clone(g.with), slices.Clone(g.next)
	return out
}

// rotate takes a and b to a − ρb and b − ρa.
func rotate(a, b []float64, rho float64) {
	b = b[:len(a)]
	for i, v := range a {
		w := b[i]
		a[i] = v - rho*w
		b[i] = w - rho*v
	}
}

// fromPartial turns partial autocorrelations into the coefficients of the autoregression that has them (Durbin 1960;
// Monahan 1984). Any partials within (−1, 1) give a stationary autoregression. len(coefficients) = len(partial); work
// is room of that size.
func fromPartial(partial, coefficients, work []float64) {
	for k, reflection := range partial {
		copy(work, coefficients[:k])
		for j := range k {
			coefficients[j] = work[j] - reflection*work[k-1-j]
		}
		coefficients[k] = reflection
	}
}

// toPartial is the inverse of fromPartial. False means that the autoregression is not stationary. work is room for two
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

// stationary reports whether all roots of 1 − sign·(c₁z + … + cₙzⁿ) lie outside the circle of the radius.
func stationary(coefficients []float64, sign, radius float64) bool {
	scaled := make([]float64, len(coefficients))
	power := sign
	for i, c := range coefficients {
		power *= radius
		scaled[i] = c * power
	}
	return toPartial(scaled, make([]float64, len(scaled)), make([]float64, 2*len(scaled)))
}

// spread is the variance of the autoregression with unit innovations that has the partials.
func spread(partial []float64) float64 {
	variance := 1.0
	for _, r := range partial {
		variance /= (1 - r) * (1 + r)
	}
	return variance
}
