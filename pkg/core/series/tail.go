package series

import "slices"

// Tail keeps the newest values in one slice, which others may read while it goes on.
type Tail[T any] struct {
	values []T
	size   int
}

// NewTail keeps so many values, 1 or more.
func NewTail[T any](n int) Tail[T] { return Tail[T]{size: n} }

// Push adds the next value. Where there is no room the newest move to a new array.
func (t *Tail[T]) Push(v T) {
	if len(t.values) == cap(t.values) {
		kept := t.values[max(0, len(t.values)-t.size+1):]
		t.values = append(make([]T, 0, min(2*len(kept)+8, t.size+t.size/16+1)), kept...)
	}
	t.values = append(t.values, v)
}

// Newest are the newest values, oldest first. They never change, and the caller must not change them.
func (t *Tail[T]) Newest() []T {
	n := len(t.values)
	return t.values[max(0, n-t.size):n:n]
}

// Edit changes a copy of the values: what others read stays as it is.
func (t *Tail[T]) Edit(change func(values []T)) {
	t.values = slices.Clone(t.Newest())
	change(t.values)
}
