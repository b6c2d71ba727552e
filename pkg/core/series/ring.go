package series

import (
	"iter"
	"math"
	"slices"
)

// Ring stores the newest values.
type Ring[T any] struct {
	values []T
	size   int
	at     int // the index of the oldest value, once the ring is full
}

// NewRing returns an empty ring of n values, 1 or more, with memory for all of them.
func NewRing[T any](n int) Ring[T] { return Ring[T]{values: make([]T, 0, n), size: n} }

// NewGrowingRing returns an empty ring of n values, 1 or more, whose memory grows with the stored values (see Grow).
func NewGrowingRing[T any](n int) Ring[T] { return Ring[T]{size: n} }

// Grow makes room for n more values, up to the ring's size; append alone would allocate up to twice as much.
func (r *Ring[T]) Grow(n int) {
	wanted := min(len(r.values)+n, r.size)
	if wanted <= cap(r.values) {
		return
	}
	room := min(max(wanted, len(r.values)+len(r.values)/8), r.size)
	r.values = append(make([]T, 0, room), r.values...)
}

// Push adds the next value.
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

// Ago returns the value n pushes before the newest one, or the oldest stored value. For an empty ring, it returns the zero value.
func (r *Ring[T]) Ago(n int) T {
	if len(r.values) == 0 {
		var none T
		return none
	}
	return *r.Ref(min(n, len(r.values)-1))
}

// Ref returns a pointer to the value n pushes before the newest, n < Len.
func (r *Ring[T]) Ref(n int) *T {
	i := r.at - 1 - n
	if i < 0 {
		i += len(r.values)
	}
	return &r.values[i]
}

// Len returns the number of stored values.
func (r *Ring[T]) Len() int { return len(r.values) }

// Cap returns the size of the ring.
func (r *Ring[T]) Cap() int { return r.size }

// Has reports whether the value n pushes before the newest is stored.
func (r *Ring[T]) Has(n int) bool { return n < len(r.values) }

// All yields the stored values and their indices, oldest first. The ring must not change meanwhile.
func (r *Ring[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range r.values {
			if !yield(i, r.Ref(len(r.values)-1-i)) {
				return
			}
		}
	}
}

// Values returns a copy of the stored values, oldest first.
func (r *Ring[T]) Values() []T {
	out := make([]T, 0, len(r.values))
	return append(append(out, r.values[r.at:]...), r.values[:r.at]...)
}

// Delay delays values by a number of steps.
type Delay struct{ ring Ring[float64] }

// NewDelay returns a delay of the given number of steps, 1 or more.
func NewDelay(steps int) Delay { return Delay{NewRing[float64](steps)} }

// Push adds the next value and returns the delayed value; NaN if there is none yet.
func (d *Delay) Push(v float64) float64 {
	old := math.NaN()
	if d.ring.Len() == d.ring.Cap() {
		old = d.ring.Ago(d.ring.Len() - 1)
	}
	d.ring.Push(v)
	return old
}

// Tail keeps the newest values in one slice. Other goroutines may read this slice while values are added.
type Tail[T any] struct {
	values []T
	size   int
}

// NewTail returns an empty Tail that keeps n values, 1 or more.
func NewTail[T any](n int) Tail[T] { return Tail[T]{size: n} }

// Push adds the next value. If there is no room, it moves the newest values to a new array.
func (t *Tail[T]) Push(v T) {
	if len(t.values) == cap(t.values) {
		kept := t.values[max(0, len(t.values)-t.size+1):]
		t.values = append(make([]T, 0, min(2*len(kept)+8, t.size+t.size/16+1)), kept...)
	}
	t.values = append(t.values, v)
}

// Newest returns the newest values, oldest first. They never change, and the caller must not change them.
func (t *Tail[T]) Newest() []T {
	n := len(t.values)
	return t.values[max(0, n-t.size):n:n]
}

// Edit changes a copy of the values, so that slices that Newest returned do not change.
func (t *Tail[T]) Edit(change func(values []T)) {
	t.values = slices.Clone(t.Newest())
	change(t.values)
}
