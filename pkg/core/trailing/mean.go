package trailing

import (
	"math"
	"time"
)

// Mean is an exponentially weighted mean without bias at its beginning.
type Mean struct {
	keep        float64
	sum, weight float64
}

// NewMean forgets over a time constant of tau; values are a step apart.
func NewMean(tau, step time.Duration) Mean {
	return Mean{keep: 1 - math.Min(1, step.Seconds()/tau.Seconds())}
}

// Add takes the next value.
func (m *Mean) Add(v float64) {
	m.sum = m.keep*m.sum + (1-m.keep)*v
	m.weight = m.keep*m.weight + (1 - m.keep)
}

// Value is the mean; 0 before the first.
func (m *Mean) Value() float64 {
	if m.weight == 0 {
		return 0
	}
	return m.sum / m.weight
}

// Shrunk is the mean drawn to a prior, whose weight is a share of all that can be known.
func (m *Mean) Shrunk(prior, weight float64) float64 {
	return (m.sum + weight*prior) / (m.weight + weight)
}
