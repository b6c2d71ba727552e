// Package transform fits a model to the logarithms of a series, in which factors of the demand become additive.
//
//	transform.Log{Model: m}
//
// The map is increasing, so a quantile of a logarithm maps back to the quantile of the value. The same holds for the
// median, so points are medians.
package transform

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Log fits another model to sign(y)·ln(1+|y|/u), and transforms its forecasts back. The transform is logarithmic for values that are large
// compared with u, and linear for small values, so that zeros are not a problem. u is proportional to the size of the series, so the unit
// of the series does not matter.
type Log struct {
	// Model forecasts the logarithms.
	Model forecast.Model
}

// logShare is u as a share of the mean magnitude. Values below u hardly differ from 0.
const logShare = 0.01

// Name returns the name of the model with a suffix: "SES of log".
func (m Log) Name() string {
	if m.Model == nil {
		return "log without a model"
	}
	return m.Model.Name() + " of log"
}

// Fit sets u to a hundredth of the mean magnitude. It needs what the model needs.
func (m Log) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Model == nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), forecast.ErrParameter)
	}
	if err := numeric.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	unit := log1p(logShare * numeric.Magnitude(s.Values))
	if !(unit > 1e-290) {
		unit = 1 // All values are almost 0, where the transform is linear.
	}
	values := make([]float64, s.Len())
	for i, y := range s.Values {
		values[i] = unit.forward(y)
	}
	s.Values = values
	inner, err := m.Model.Fit(s)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return &fitted{unit: unit, inner: inner}, nil
}

// log1p is the transform with its u.
type log1p float64

func (u log1p) forward(y float64) float64 {
	return math.Copysign(math.Log1p(math.Abs(y)/float64(u)), y)
}

// inverse returns sign(z)·u(eᶻ−1), limited to the largest valid observation.
func (u log1p) inverse(z float64) float64 {
	return min(max(math.Copysign(float64(u)*math.Expm1(math.Abs(z)), z), -numeric.Limit), numeric.Limit)
}

// fitted is a model of the logarithms at its origin.
type fitted struct {
	unit  log1p
	inner forecast.Fitted
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing.
func (f *fitted) Update(y float64) {
	if !numeric.Observed(y) {
		y = math.NaN()
	}
	f.inner.Update(f.unit.forward(y))
}

// PointsTo writes the medians of the next steps to dst.
func (f *fitted) PointsTo(dst []float64) {
	f.inner.PointsTo(dst)
	for i, z := range dst {
		dst[i] = f.unit.inverse(z)
	}
}

// Forecast returns a forecast whose marginals have the model's quantiles, transformed back. A step's standard error is half the width of
// its central 68.3 % interval, as for a Gaussian.
func (f *fitted) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	marginals := inverted{unit: f.unit, points: out.Point, errors: out.StdErr, inner: out.Marginals}
	out.Marginals = marginals
	out.Point, out.StdErr = make([]float64, len(marginals.points)), make([]float64, len(marginals.points))
	above, below := distuv.UnitNormal.CDF(1), distuv.UnitNormal.CDF(-1)
	for i, z := range marginals.points {
		out.Point[i] = f.unit.inverse(z)
		// Because of rounding, the upper end may be slightly below the lower end.
		out.StdErr[i] = max((marginals.Quantile(i, above)-marginals.Quantile(i, below))/2, 0)
	}
	return out
}

// inverted are the marginals of values whose logarithms are Gaussian, or have marginals of their own.
type inverted struct {
	unit           log1p
	points, errors []float64
	inner          forecast.Marginals
}

// Quantile returns the quantile of the logarithm, transformed back.
func (m inverted) Quantile(i int, p float64) float64 {
	if m.inner != nil {
		return m.unit.inverse(m.inner.Quantile(i, p))
	}
	return m.unit.inverse(m.points[i] + distuv.UnitNormal.Quantile(p)*m.errors[i])
}
