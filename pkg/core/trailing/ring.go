package trailing

import "math"

// Ring holds the newest values.
type Ring[T any] struct {
	values []T
	size   int
	at     int // of the oldest, once it is full
}

// NewRing holds so many values, 1 or more, and takes the memory for all of them.
func NewRing[T any](n int) Ring[T] { return Ring[T]{values: make([]T, 0, n), size: n} }

// NewGrowing holds so many values, 1 or more; its memory grows with what is held (see Grow).
func NewGrowing[T any](n int) Ring[T] { return Ring[T]{size: n} }

// Grow makes room for n more values, no more than the Ring may hold: append alone would take up to twice of that.
func (r *Ring[T]) Grow(n int) {
	wanted := min(len(r.values)+n, r.size)
	if wanted <= cap(r.values) {
		return
	}
	room := min(max(wanted, len(r.values)+len(r.values)/8), r.size)
	r.values = append(make([]T, 0, room), r.values...)
}

// Push takes the next value.
func (r *Ring[T]) Push(v T) {
	if len(r.values) < r.size {
		r.values = append(r.values, v)
		return
	}
	r.values[r.at] = v
	r.at++
	if r.at == r.size {
		r.at = 0
	}
}

// Ago is the value pushed n pushes before the newest, or the oldest there is; the zero value where there is none.
func (r *Ring[T]) Ago(n int) T {
	if len(r.values) == 0 {
		var none T
		return none
	}
	return *r.Back(min(n, len(r.values)-1))
}

// Back is where the value lies that was pushed n pushes before the newest, n less than Len.
func (r *Ring[T]) Back(n int) *T {
	i := r.at - 1 - n
	if i < 0 {
		i += len(r.values)
	}
	return &r.values[i]
}

// Len is how many values it holds.
func (r *Ring[T]) Len() int { return len(r.values) }

// Cap is how many values it can hold.
func (r *Ring[T]) Cap() int { return r.size }

// Knows says whether a value n pushes before the newest was pushed, and is still held.
func (r *Ring[T]) Knows(n int) bool { return n < len(r.values) }

// Clear lets all values go.
func (r *Ring[T]) Clear() { r.values, r.at = r.values[:0], 0 }

// Newest are the values that it holds, oldest first.
func (r *Ring[T]) Newest() []T {
	out := make([]T, 0, len(r.values))
	return append(append(out, r.values[r.at:]...), r.values[:r.at]...)
}

// Delay gives back values after a number of steps.
type Delay struct{ ring Ring[float64] }

// NewDelay is of so many steps, 1 or more.
func NewDelay(steps int) Delay { return Delay{NewRing[float64](steps)} }

// Push takes the next value and returns the one that is so many steps old; NaN where there is none.
func (d *Delay) Push(v float64) float64 {
	old := math.NaN()
	if d.ring.Len() == d.ring.Cap() {
		old = d.ring.Ago(d.ring.Len() - 1)
	}
	d.ring.Push(v)
	return old
}
