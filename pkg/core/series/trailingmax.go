package series

import "math"

// TrailingMax is the maximum of the newest values, in amortised constant time: a queue of the values that no newer value
// exceeds (Lemire 2006).
type TrailingMax struct {
	window int
	seen   int
	// values, descending, and their positions, in a ring that starts at head.
	values    []float64
	positions []int32
	head, len int
}

// NewTrailingMax returns the maximum of so many values, 1 or more.
func NewTrailingMax(window int) *TrailingMax {
	return &TrailingMax{window: window, values: make([]float64, window), positions: make([]int32, window)}
}

// Push takes the next value, NaN where it is missing, and returns Value.
func (m *TrailingMax) Push(v float64) float64 {
	if m.len > 0 && int(m.positions[m.head]) <= m.seen-m.window {
		m.head = m.at(1)
		m.len--
	}
	if !math.IsNaN(v) {
		for m.len > 0 && m.values[m.at(m.len-1)] <= v {
			m.len--
		}
		end := m.at(m.len)
		m.values[end], m.positions[end] = v, int32(m.seen) //nolint:gosec // No history has so many steps.
		m.len++
	}
	m.seen++
	return m.Value()
}

// Value is the maximum of the window; NaN where nothing in it is known.
func (m *TrailingMax) Value() float64 {
	if m.len == 0 {
		return math.NaN()
	}
	return m.values[m.head]
}

// at is where the i-th value is; a remainder would cost more than all the rest.
func (m *TrailingMax) at(i int) int {
	if i += m.head; i >= m.window {
		i -= m.window
	}
	return i
}

// MaxKnown returns the largest value that is not NaN; NaN without any.
func MaxKnown(values ...float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if !(v <= out) && !math.IsNaN(v) {
			out = v
		}
	}
	return out
}
