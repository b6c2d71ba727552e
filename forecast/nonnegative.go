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

// Name returns the name of the model.
func (m NonNegative) Name() string {
	if m.Model == nil {
		return "NonNegative without a model"
	}
	return m.Model.Name()
}

// Fit fits the model.
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

// nonNegative is the fitted model. signed is true if the series has had a negative value.
type nonNegative struct {
	Fitted
	signed bool
}

func (f *nonNegative) Update(y float64) {
	f.signed = f.signed || y < 0 && y >= -1e150 // A value below that counts as missing.
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

// raise replaces negative values with 0.
func raise(values []float64) {
	for i, v := range values {
		values[i] = max(v, 0)
	}
}

// raised has the quantiles of a forecast, raised to at least 0.
type raised struct{ of Forecast }

// Quantile returns the p-quantile of step i, at least 0.
func (r raised) Quantile(i int, p float64) float64 { return max(r.of.QuantileAt(i, p), 0) }
