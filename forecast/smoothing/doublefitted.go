package smoothing

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// FittedDouble is a double-seasonal exponential smoothing with its parameters, and its states after the last
// observation.
type FittedDouble struct {
	parameters     DoubleParameters
	periods        [2]int
	state          doubleState
	sse, deviation float64
	// gap, missed and faded are those of Fitted.
	gap           doubleResponses
	missed, faded float64
	next          time.Time
	step          time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *FittedDouble) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *FittedDouble) observe(y float64) {
	one := [1]float64{y}
	if !numeric.Observed(y) {
		one[0] = math.NaN()
		f.state.run(f.parameters, one[:])
		c := f.gap.next()
		f.missed += c * c
		return
	}
	f.state.run(f.parameters, one[:])
	rest := 1 - f.parameters.Alpha
	f.faded = rest * rest * (f.faded + f.missed)
	f.missed = 0
	f.gap = newDoubleResponses(f.parameters, f.periods)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *FittedDouble) PointsTo(dst []float64) { f.state.points(f.parameters, dst) }

// Forecast is the forecast of the coming h steps, with the standard errors of a linear innovations model (Hyndman et al.
// 2008, §6.1).
func (f *FittedDouble) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	variance, ahead := 1+f.missed+f.faded, f.gap
	for i := range out.StdErr {
		out.StdErr[i] = f.deviation * math.Sqrt(variance)
		c := ahead.next()
		variance += c * c
	}
	return out
}

// Parameters are the smoothing parameters, fitted or fixed.
func (f *FittedDouble) Parameters() DoubleParameters { return f.parameters }

// Level is the level at the origin.
func (f *FittedDouble) Level() float64 { return f.state.level }

// Trend is the trend per step at the origin, before damping.
func (f *FittedDouble) Trend() float64 { return f.state.trend }

// Remainder is what level and seasons leave at the origin; Rho times it is part of the next step's forecast.
func (f *FittedDouble) Remainder() float64 { return f.state.rest }

// Seasons are the short and the long season as they stand, the coming step's first. The slices are the caller's.
func (f *FittedDouble) Seasons() (short, long []float64) {
	s := &f.state
	return slices.Concat(s.short[s.atShort:], s.short[:s.atShort]), slices.Concat(s.long[s.atLong:], s.long[:s.atLong])
}

// SSE is the sum of the squared one-step errors over the series that was fitted.
func (f *FittedDouble) SSE() float64 { return f.sse }

// rescale multiplies the states with the scale of the series.
func (f *FittedDouble) rescale(scale float64) {
	f.state.level *= scale
	f.state.trend *= scale
	f.state.rest *= scale
	for _, season := range [][]float64{f.state.short, f.state.long} {
		for i := range season {
			season[i] *= scale
		}
	}
	f.sse *= scale * scale
	f.deviation *= scale
}
