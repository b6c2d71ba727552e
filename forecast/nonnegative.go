package forecast

import (
	"fmt"
	"slices"
)

// NonNegative wraps a model so that its points and quantiles are never below 0. Once the series has had a negative value,
// forecasts pass through unchanged.
type NonNegative struct {
	// Model forecasts the series.
	Model Model
}

// Name is the name of the model.
func (m NonNegative) Name() string {
	if m.Model == nil {
		return "NonNegative without a model"
	}
	return m.Model.Name()
}

// Fit is the Fit of the model.
func (m NonNegative) Fit(s Series) (Fitted, error) {
	if m.Model == nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), ErrParameter)
	}
	fitted, err := m.Model.Fit(s)
	if err != nil {
		return nil, err
	}
	signed := slices.ContainsFunc(s.Values, func(y float64) bool { return y < 0 })
	return &nonNegative{Fitted: fitted, signed: signed}, nil
}

// nonNegative is the fitted model; signed means that the series has been below 0.
type nonNegative struct {
	Fitted
	signed bool
}

func (f *nonNegative) Update(y float64) {
	f.signed = f.signed || y < 0 && y >= -1e150 // Beyond that a value counts as missing.
	f.Fitted.Update(y)
}

func (f *nonNegative) PointsTo(dst []float64) {
	f.Fitted.PointsTo(dst)
	if !f.signed {
		raise(dst)
	}
}

func (f *nonNegative) Forecast(h int) Forecast {
	out := f.Fitted.Forecast(h)
	if f.signed {
		return out
	}
	inner := out
	inner.Point = slices.Clone(out.Point)
	out.Marginals = raised{inner}
	raise(out.Point)
	return out
}

// raise replaces what is below 0 by 0.
func raise(values []float64) {
	for i, v := range values {
		values[i] = max(v, 0)
	}
}

// raised are the quantiles of a forecast that are at least 0.
type raised struct{ of Forecast }

// Quantile is at least 0.
func (r raised) Quantile(i int, p float64) float64 { return max(r.of.QuantileAt(i, p), 0) }
