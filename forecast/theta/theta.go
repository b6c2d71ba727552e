package theta

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Theta is the theta method of a series without season. With one, see naive.Deseasonalised.
type Theta struct{}

var (
	_ forecast.Model  = Theta{}
	_ forecast.Fitted = (*Fitted)(nil)
)

// Name is "theta".
func (Theta) Name() string { return "theta" }

// Fit wants three observations. Errors: forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Theta) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// leastObservations is what a level, a slope and a smoothing can be told from.
const leastObservations = 3

// Estimate is Fit with the concrete type, which shows the parameters.
func (m Theta) Estimate(s forecast.Series) (*Fitted, error) {
	if err := numeric.Check(s, leastObservations); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	// About the first value and in a unit of the largest, so that neither a high level nor a small unit costs digits.
	first := numeric.First(s.Values)
	scale := numeric.Scale(s.Values)
	values := make([]float64, s.Len()-first)
	for i, v := range s.Values[first:] {
		values[i] = v/scale - s.Values[first]/scale
	}
	f := estimate(values)
	f.scale, f.origin = scale, s.Values[first]/scale
	f.next, f.step = s.End(), s.Step
	return f, nil
}

// Fitted is a theta method with its parameters, and its state after the last observation.
type Fitted struct {
	alpha float64
	// level is that of the smoothing. The drift of the line is part of it, so that the forecast of step h is the level
	// and h drifts.
	level, drift float64
	deviation    float64
	// unknown is the variance of the level that missing values left, in units of deviation².
	unknown float64
	// A value y is (y/scale − origin) inside.
	scale, origin float64
	next          time.Time
	step          time.Duration
}

// Alpha is the share of a surprise that moves the level.
func (f *Fitted) Alpha() float64 { return f.alpha }

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	if !numeric.Observed(y) {
		f.level += f.drift
		f.unknown += f.alpha * f.alpha
		return
	}
	f.take(min(max(y/f.scale, -numeric.Limit), numeric.Limit) - f.origin)
	f.unknown *= (1 - f.alpha) * (1 - f.alpha)
}

// take moves the state past an observation.
func (f *Fitted) take(y float64) {
	f.level += f.drift
	f.level += f.alpha * (y - f.level)
}

// PointsTo writes the forecasts of the coming steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	point := f.level
	for i := range dst {
		point += f.drift
		dst[i] = (point + f.origin) * f.scale
	}
}

// Forecast is the forecast of the coming h steps, with standard errors.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		variance := 1 + f.unknown + float64(i)*f.alpha*f.alpha
		out.StdErr[i] = f.scale * f.deviation * math.Sqrt(variance)
	}
	return out
}
