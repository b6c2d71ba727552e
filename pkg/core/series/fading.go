package series

import (
	"math"
	"time"
)

// FadingMean is an exponentially weighted mean of values with durations. It is unbiased from the start.
type FadingMean struct {
	halfLife    time.Duration
	sum, weight float64
	// keep is the remaining weight after the duration of the newest value; mostly the next one has the same duration.
	stood time.Duration
	keep  float64
}

// NewFadingMean returns an empty mean with a half-life, more than 0.
func NewFadingMean(halfLife time.Duration) FadingMean { return FadingMean{halfLife: halfLife} }

// Add adds the next value, which lasts for a time.
func (f *FadingMean) Add(v float64, stands time.Duration) {
	if stands != f.stood {
		f.stood, f.keep = stands, math.Exp2(-float64(stands)/float64(f.halfLife))
	}
	f.sum = f.keep*f.sum + (1-f.keep)*v
	f.weight = f.keep*f.weight + (1 - f.keep)
}

// Value returns the mean, NaN before the first value.
func (f *FadingMean) Value() float64 { return f.sum / f.weight }
