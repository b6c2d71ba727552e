package ensemble

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// logged is a model that works on the logarithm of 1 + y/unit, the unit being a small share of the typical value: errors
// are then in proportion, and forecasts stay above 0. Its point forecasts are medians.
type logged struct{ forecast.Model }

// Name is that of the model, on a log scale: "Log Auto-ARIMA".
func (m logged) Name() string { return "Log " + m.Model.Name() }

// logShare is the unit of the logarithm as a share of the typical value: below it the scale is linear.
const logShare = 0.01

// Fit wants values that are not negative, and not all 0.
func (m logged) Fit(s forecast.Series) (forecast.Fitted, error) {
	unit, highest := logShare*typical(s.Values), 0.0
	if !(unit > 1e-290) {
		unit = 1
	}
	values := make([]float64, s.Len())
	for i, y := range s.Values {
		if y < 0 {
			return nil, fmt.Errorf("%s: value %d is %v, want 0 or more: %w", m.Name(), i, y, forecast.ErrParameter)
		}
		values[i] = math.Log1p(y / unit)
		if y > highest {
			highest = y
		}
	}
	inner, err := m.Model.Fit(forecast.Series{Start: s.Start, Step: s.Step, Values: values})
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return &fittedLog{inner: inner, unit: unit, highest: highest}, nil
}

type fittedLog struct {
	inner forecast.Fitted
	unit  float64
	// highest is the largest value seen; a forecast far beyond it is an extrapolation of the exponential's.
	highest float64
}

// Update takes a negative value for 0.
func (f *fittedLog) Update(y float64) {
	if !units.Observed(y) {
		f.inner.Update(math.NaN())
		return
	}
	f.highest = math.Max(f.highest, y)
	f.inner.Update(math.Log1p(math.Max(y, 0) / f.unit))
}

// PointsTo writes the medians.
func (f *fittedLog) PointsTo(dst []float64) {
	f.inner.PointsTo(dst)
	for i, v := range dst {
		dst[i] = f.natural(v)
	}
}

func (f *fittedLog) natural(v float64) float64 {
	return max(min(f.unit*math.Expm1(v), 3*f.highest), 0)
}

// Forecast has the standard errors of the delta method: those of the logarithm times the derivative.
func (f *fittedLog) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	for i, v := range out.Point {
		out.Point[i] = f.natural(v)
		out.StdErr[i] = math.Min(out.StdErr[i], 3) * (out.Point[i] + f.unit)
	}
	return out
}

// typical is the mean magnitude of the values, 0 where there are none.
func typical(values []float64) float64 {
	mean, n := 0.0, 0.0
	for _, y := range values {
		if !math.IsNaN(y) {
			n++
			mean += (math.Abs(y) - mean) / n
		}
	}
	return mean
}
