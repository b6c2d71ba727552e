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

// Shrunk returns the mean shrunk towards a prior. The prior's weight is relative to that of an infinite history.
func (m *TrailingMean) Shrunk(prior, weight float64) float64 {
	return (m.sum + weight*prior) / (m.weight + weight)
}
