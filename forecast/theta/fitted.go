package theta

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Fitted is a Theta method at its origin. Values are divided by the scale and by the season's factor.
type Fitted struct {
	alpha, level, drift, deviation, scale float64
	// fade is the weight that the first level has left, (1−α)ⁿ; missed how many values are missing at the origin.
	fade   float64
	missed int
	season []float64
	at     int
	next   time.Time
	step   time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	adjusted := y / f.scale / f.season[f.at]
	f.at = (f.at + 1) % len(f.season)
	if !units.Observed(y) || !units.Observed(adjusted) {
		f.missed++
		return
	}
	f.level += f.alpha * (adjusted - f.level)
	f.fade *= 1 - f.alpha
	f.missed = 0
}

// PointsTo writes the level and, from where it lags behind the line, half the line's slope for each step.
func (f *Fitted) PointsTo(dst []float64) {
	lag := (1-f.fade)/f.alpha + float64(f.missed)
	at := f.at
	for i := range dst {
		value := f.level + f.drift*(float64(i)+lag)
		dst[i] = min(max(f.scale*f.season[at]*value, -units.Limit), units.Limit)
		if at++; at == len(f.season) {
			at = 0
		}
	}
}

// Forecast has the standard errors of simple exponential smoothing, σ√(1 + (h−1)α²), times the season's factor; h counts
// from the last observation.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		growth := math.Sqrt(1 + float64(i+f.missed)*f.alpha*f.alpha)
		out.StdErr[i] = f.scale * f.season[(f.at+i)%len(f.season)] * f.deviation * growth
	}
	return out
}

// Alpha is the share of a surprise that moves the level.
func (f *Fitted) Alpha() float64 { return f.alpha }

// Drift is half the slope of the line through the seasonally adjusted series, per step.
func (f *Fitted) Drift() float64 { return f.scale * f.drift }
