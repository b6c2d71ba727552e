package series

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Means are the newest means of a series. Each is the mean of a fixed number of steps, the stride.
type Means struct {
	stride int
	values Tail[float64]
	sum    float64
	count  int
	last   int64 // index of the newest step
}

// NewMeans returns empty Means that keep the newest n means of stride steps each.
func NewMeans(stride, n int) Means {
	return Means{stride: stride, values: NewTail[float64](n)}
}

// Ends reports whether a step is the last of its mean.
func (m *Means) Ends(index int64) bool { return index%int64(m.stride) == 0 }

// Observe records the value of a step; NaN for a gap. The index is one more than the index of the step before.
func (m *Means) Observe(index int64, now float64) {
	m.last = index
	if !math.IsNaN(now) {
		m.sum += now
		m.count++
	}
	if m.Ends(index) {
		m.values.Push(m.sum / float64(m.count)) // NaN if all steps are gaps.
		m.sum, m.count = 0, 0
	}
}

// Series returns the means as a series, each at the time of its last step. The result never changes, and the caller must not change it.
func (m *Means) Series(step time.Duration) forecast.Series {
	return onStrides(m.values.Newest(), m.stride, m.last, step)
}

// At returns the mean that contains a step; NaN if it is not kept.
func (m *Means) At(index int64) float64 {
	values, stride := m.values.Newest(), int64(m.stride)
	i := len(values) - int(m.last/stride-(index-1)/stride)
	if i < 0 || i >= len(values) {
		return math.NaN()
	}
	return values[i]
}
