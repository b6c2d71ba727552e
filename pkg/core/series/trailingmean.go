package series

import (
	"math"
	"time"
)

// TrailingMean is an exponentially weighted mean, unbiased from the start.
type TrailingMean struct {
	keep        float64
	sum, weight float64
}

// NewTrailingMean returns an empty mean with time constant tau of values one step apart.
func NewTrailingMean(tau, step time.Duration) TrailingMean {
	return TrailingMean{keep: 1 - math.Min(1, step.Seconds()/tau.Seconds())}
}

// Add adds the next value.
func (m *TrailingMean) Add(v float64) {
	m.sum = m.keep*m.sum + (1-m.keep)*v
	m.weight = m.keep*m.weight + (1 - m.keep)
}

// Value returns the mean; 0 before the first value.
func (m *TrailingMean) Value() float64 {
	if m.weight == 0 {
		return 0
	}
	return m.sum / m.weight
}

// Shrunk returns the mean shrunk toward a prior. The prior's weight is relative to the weight of an infinite history.
func (m *TrailingMean) Shrunk(prior, weight float64) float64 {
	return (m.sum + weight*prior) / (m.weight + weight)
}

// FadingMean is an exponentially weighted mean of values with durations. It is unbiased from the start.
type FadingMean struct {
	halfLife    time.Duration
	sum, weight float64
	// keep is the weight that remains after the duration of the newest value, which is stood. It is cached, because the next value usually
	// has the same duration.
	stood time.Duration
	keep  float64
}

// NewFadingMean returns an empty mean with a half-life, more than 0.
func NewFadingMean(halfLife time.Duration) FadingMean { return FadingMean{halfLife: halfLife} }

// Add adds the next value, which lasts for a duration.
func (f *FadingMean) Add(v float64, stands time.Duration) {
	if stands != f.stood {
		f.stood, f.keep = stands, math.Exp2(-float64(stands)/float64(f.halfLife))
	}
	f.sum = f.keep*f.sum + (1-f.keep)*v
	f.weight = f.keep*f.weight + (1 - f.keep)
}

// Value returns the mean, NaN before the first value.
func (f *FadingMean) Value() float64 { return f.sum / f.weight }

// TrailingMax is the maximum of the newest values, in amortized constant time. It keeps a queue of the values that no newer value exceeds
// (Lemire 2006), which are usually few.
type TrailingMax struct {
	window int
	seen   int
	// queue is a ring that starts at head. Its values descend.
	queue     []highest
	head, len int
}

// highest is a value and its position.
type highest struct {
	value    float64
	position int
}

// NewTrailingMax returns an empty maximum over the given number of values, 1 or more.
func NewTrailingMax(window int) *TrailingMax {
	return &TrailingMax{window: window, queue: make([]highest, min(window, 8))}
}

// Push adds the next value, NaN if it is missing, and returns Value.
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

// grow enlarges the queue.
func (m *TrailingMax) grow() {
	larger := make([]highest, min(2*len(m.queue), m.window))
	copy(larger[copy(larger, m.queue[m.head:]):], m.queue[:m.head])
	m.queue, m.head = larger, 0
}

// Value returns the maximum over the window; NaN if no value in it is known.
func (m *TrailingMax) Value() float64 {
	if m.len == 0 {
		return math.NaN()
	}
	return m.queue[m.head].value
}

// at returns the position of the i-th value of the queue. It avoids a remainder operation, which would be slower than everything else.
func (m *TrailingMax) at(i int) int {
	if i += m.head; i >= len(m.queue) {
		i -= len(m.queue)
	}
	return i
}

// MaxKnown returns the largest value that is not NaN; NaN if there is none.
func MaxKnown(values ...float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if !(v <= out) && !math.IsNaN(v) {
			out = v
		}
	}
	return out
}
