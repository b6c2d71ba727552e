package windowpeak

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// pending is a ring of the rows whose windows are still open.
type pending struct {
	width       int
	values      []float64
	steps       []int
	first, size int
}

func newPending(n, width int) pending {
	return pending{width: width, values: make([]float64, n*width), steps: make([]int, n)}
}

// add stores a copy of a row that is due at a step.
func (p *pending) add(until int, row []float64) {
	if p.size == len(p.steps) {
		p.first, p.size = (p.first+1)%len(p.steps), p.size-1
	}
	at := (p.first + p.size) % len(p.steps)
	p.steps[at] = until
	copy(p.values[at*p.width:], row)
	p.size++
}

// due removes and returns the row that is due at a step. The row is valid until the next add.
func (p *pending) due(step int) (row []float64, ok bool) {
	if p.size == 0 || p.steps[p.first] != step {
		return nil, false
	}
	row = p.values[p.first*p.width : (p.first+1)*p.width]
	p.first, p.size = (p.first+1)%len(p.steps), p.size-1
	return row, true
}

// rows is a ring of rows with their actual window peaks. Rows take most of the regression's memory, so each row is stored as 16-bit
// integers, in 32,767ths of its largest number. The rounding error is a tenth of the error that the regression tolerates.
type rows struct {
	width int // the features and the actual peak
	x     []int16
	// largest is the largest number of each row, and levels are the levels of the demand at the times of the rows.
	largest, levels []float32
	// size is the maximum number of rows; 0 once rows are no longer kept.
	size, at, n int
	// unit is the first peak. Stored numbers are divided by it, so that single precision is sufficient for any demand.
	unit float64
}

func newRows(n, features int) rows {
	return rows{
		width: features + 1,
		size:  n,
	} // Memory is allocated as rows are added: a new series has few of them.
}

func (r *rows) add(row []float64, actual, level float64) {
	if r.unit == 0 {
		if !(actual > 0) {
			return // All peaks so far are 0, which is not evidence.
		}
		r.unit = actual
	}
	largest := actual
	for _, v := range row {
		largest = math.Max(largest, math.Abs(v))
	}
	if tooLarge(largest/r.unit) || tooLarge(level/r.unit) {
		return
	}
	if r.n < r.size { // The ring is not full yet, so r.at is a new row.
		r.n++
		r.x = append(r.x, make([]int16, r.width)...)
		r.largest, r.levels = append(r.largest, 0), append(r.levels, 0)
	}
	r.largest[r.at], r.levels[r.at] = float32(largest/r.unit), float32(level/r.unit)
	kept := r.x[r.at*r.width : (r.at+1)*r.width]
	for i, v := range row {
		kept[i] = part(v, largest)
	}
	kept[len(row)] = part(actual, largest)
	r.at = (r.at + 1) % r.size
}

// part returns a number in 32,767ths of the largest one.
func part(v, largest float64) int16 {
	if largest == 0 {
		return 0
	}
	return int16(math.Round(v / largest * math.MaxInt16))
}

func tooLarge(v float64) bool { return !(math.Abs(v) <= 1e30) }

// scaled returns the rows in units of the mean level, which is the unit of priors from other workloads. It reuses the memory of room.
func (r *rows) scaled(room quantreg.Rows) (data quantreg.Rows, ok bool) {
	sum := 0.0
	for _, level := range r.levels[:r.n] {
		sum += float64(level)
	}
	level := sum / float64(r.n)
	if !(level > 0) {
		return room, false
	}
	features := r.width - 1
	data = quantreg.Rows{X: slices.Grow(room.X[:0], r.n*features), Y: slices.Grow(room.Y[:0], r.n)[:r.n]}
	for i := range data.Y {
		one := float64(r.largest[i]) / level / math.MaxInt16
		kept := r.x[i*r.width : (i+1)*r.width]
		for _, v := range kept[:features] {
			data.X = append(data.X, one*float64(v))
		}
		data.Y[i] = one * float64(kept[features])
	}
	return data, true
}
