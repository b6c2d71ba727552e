package shape

import (
	"math"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// pending holds the rows whose window is not over yet.
type pending struct {
	width       int
	values      []float64
	steps       []int
	first, size int
}

func newPending(n, width int) pending {
	return pending{width: width, values: make([]float64, n*width), steps: make([]int, n)}
}

// add keeps a copy of a row until a step.
func (p *pending) add(until int, row []float64) {
	if p.size == len(p.steps) {
		p.first, p.size = (p.first+1)%len(p.steps), p.size-1
	}
	at := (p.first + p.size) % len(p.steps)
	p.steps[at] = until
	copy(p.values[at*p.width:], row)
	p.size++
}

// due takes out the row of a step; it is good until the next add.
func (p *pending) due(step int) (row []float64, ok bool) {
	if p.size == 0 || p.steps[p.first] != step {
		return nil, false
	}
	row = p.values[p.first*p.width : (p.first+1)*p.width]
	p.first, p.size = (p.first+1)%len(p.steps), p.size-1
	return row, true
}

// rows is a ring of rows with what came, in single precision: the regression needs no more, and it is most of a learner's
// memory.
type rows struct {
	width int
	x, y  []float32
	// levels of the demand when the rows were made.
	levels []float32
	at, n  int
	// unit of what is kept: the first maximum, so that single precision holds any demand.
	unit float64
}

func newRows(n, width int) rows {
	return rows{width: width, x: make([]float32, n*width), y: make([]float32, n), levels: make([]float32, n)}
}

func (r *rows) add(row []float64, came, level float64) {
	if r.unit == 0 {
		if !(came > 0) {
			return // Nothing but zeros so far: nothing to learn from.
		}
		r.unit = came
	}
	if tooLarge(came/r.unit) || tooLarge(level/r.unit) {
		return
	}
	for i, v := range row {
		if tooLarge(v / r.unit) {
			return
		}
		r.x[r.at*r.width+i] = float32(v / r.unit)
	}
	r.y[r.at], r.levels[r.at] = float32(came/r.unit), float32(level/r.unit)
	r.at = (r.at + 1) % len(r.y)
	r.n = min(r.n+1, len(r.y))
}

func tooLarge(v float64) bool { return !(math.Abs(v) <= 1e30) }

// scaled are the rows in the unit of the mean level, so that a prior from other workloads fits them.
func (r *rows) scaled() (data quantreg.Rows, ok bool) {
	sum := 0.0
	for _, level := range r.levels[:r.n] {
		sum += float64(level)
	}
	level := sum / float64(r.n)
	if !(level > 0) {
		return quantreg.Rows{}, false
	}
	data = quantreg.Rows{X: make([]float64, r.n*r.width), Y: make([]float64, r.n)}
	for i := range data.X {
		data.X[i] = float64(r.x[i]) / level
	}
	for i := range data.Y {
		data.Y[i] = float64(r.y[i]) / level
	}
	return data, true
}
