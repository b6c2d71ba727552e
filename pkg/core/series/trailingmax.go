package series

import "math"

// TrailingMax is the maximum of the newest values, in amortised constant time: a queue of the values that no newer value
// exceeds (Lemire 2006). Few of a window are in it.
type TrailingMax struct {
	window int
	seen   int
	// queue descends, in a ring that starts at head.
	queue     []highest
	head, len int
}

// highest is a value and its position.
type highest struct {
	value    float64
	position int
}

// NewTrailingMax returns the maximum of so many values, 1 or more.
func NewTrailingMax(window int) *TrailingMax {
	return &TrailingMax{window: window, queue: make([]highest, min(window, 8))}
}

// Push takes the next value, NaN where it is missing, and returns Value.
func (m *TrailingMax) Push(v float64) float64 {
	if m.len > 0 && m.queue[m.head].position <= m.seen-m.window {
		m.head = m.at(1)
		m.len--
	}
	if !math.IsNaN(v) {
		for m.len > 0 && m.queue[m.at(m.len-1)].value <= v {
			m.len--
		}
		if m.len == len(m.queue) {
			m.grow()
		}
		m.queue[m.at(m.len)] = highest{v, m.seen}
		m.len++
	}
	m.seen++
	return m.Value()
}

// grow makes room for more.
func (m *TrailingMax) grow() {
	larger := make([]highest, min(2*len(m.queue), m.window))
	copy(larger[copy(larger, m.queue[m.head:]):], m.queue[:m.head])
	m.queue, m.head = larger, 0
}

// Value is the maximum of the window; NaN where nothing in it is known.
func (m *TrailingMax) Value() float64 {
	if m.len == 0 {
		return math.NaN()
	}
	return m.queue[m.head].value
}

// at is where the i-th of the queue is; a remainder would cost more than all the rest.
func (m *TrailingMax) at(i int) int {
	if i += m.head; i >= len(m.queue) {
		i -= len(m.queue)
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
