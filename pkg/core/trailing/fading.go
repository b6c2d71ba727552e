package trailing

import (
	"math"
	"time"
)

// Fading is a mean of values that each stand for some time, and count half a half-life later. It has no bias at its
// beginning.
type Fading struct {
	halfLife    time.Duration
	sum, weight float64
	// keep is what is left after the time that the newest value stood for: mostly the next one stands for as long.
	stood time.Duration
	keep  float64
}

// NewFading has a half-life, more than 0.
func NewFading(halfLife time.Duration) Fading { return Fading{halfLife: halfLife} }

// Add takes the next value.
func (f *Fading) Add(v float64, stands time.Duration) {
	if stands != f.stood {
		f.stood, f.keep = stands, math.Exp2(-float64(stands)/float64(f.halfLife))
	}
	f.sum = f.keep*f.sum + (1-f.keep)*v
	f.weight = f.keep*f.weight + (1 - f.keep)
}

// Value is the mean, NaN before the first.
func (f *Fading) Value() float64 { return f.sum / f.weight }
