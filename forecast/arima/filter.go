package arima

import (
	"math"

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
