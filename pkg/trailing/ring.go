package trailing

import "math"

// Ring holds the newest values.
type Ring struct {
	values []float64
	at     int
	seen   int
}

// NewRing holds so many values, 1 or more.
func NewRing(n int) Ring { return Ring{values: make([]float64, n)} }

// Push takes the next value.
func (r *Ring) Push(v float64) {
	r.values[r.at] = v
	r.at++
	if r.at == len(r.values) {
		r.at = 0
	}
	r.seen++
}

// Ago is the value pushed n pushes before the newest, n less than the Ring holds, or the oldest there is; NaN where there is
// none.
func (r *Ring) Ago(n int) float64 {
	if r.seen == 0 {
		return math.NaN()
	}
	i := r.at - 1 - min(n, r.seen-1)
	if i < 0 {
		i += len(r.values)
	}
	return r.values[i]
}

// Len is how many values it holds.
func (r *Ring) Len() int { return min(r.seen, len(r.values)) }

// Cap is how many values it can hold.
func (r *Ring) Cap() int { return len(r.values) }

// Knows says whether a value n pushes before the newest was pushed, and is still held.
func (r *Ring) Knows(n int) bool { return n < r.Len() }

// Newest are the values that it holds, oldest first.
func (r *Ring) Newest() []float64 {
	out := make([]float64, r.Len())
	for i := range out {
		out[i] = r.Ago(len(out) - 1 - i)
	}
	return out
}
