package series

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Maxima are the newest maxima of a series. Each is the highest value of a fixed number of steps, the stride.
type Maxima struct {
	stride int
	values Tail[float64]
	high   float64
	last   int64 // index of the newest step
}

// NewMaxima returns empty Maxima that keep the newest n maxima of stride steps each.
func NewMaxima(stride, n int) Maxima {
	return Maxima{stride: stride, values: NewTail[float64](n), high: math.NaN()}
}

// Observe records the value of a step; NaN for a gap. The index is one more than the index of the step before.
func (m *Maxima) Observe(index int64, now float64) {
	m.last = index
	if !math.IsNaN(now) && !(now <= m.high) {
		m.high = now
	}
	if index%int64(m.stride) == 0 {
		m.values.Push(m.high)
		m.high = math.NaN()
	}
}

// Series returns the maxima as a series, each at the time of its last step; NaN if all steps are gaps. The result never changes, and the
// caller must not change it.
func (m *Maxima) Series(step time.Duration) forecast.Series {
	return onStrides(m.values.Newest(), m.stride, m.last, step)
}

// onStrides returns values as a series. The newest belongs to the newest stride that ended at a step or before.
func onStrides(values []float64, strideSteps int, last int64, step time.Duration) forecast.Series {
	stride := time.Duration(strideSteps) * step
	newest := time.Unix(0, (last-last%int64(strideSteps))*int64(step)).UTC()
	return forecast.Series{Start: newest.Add(-time.Duration(len(values)-1) * stride), Step: stride, Values: values}
}
