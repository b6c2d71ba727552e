package main

import "github.com/forewarm/forewarm/forecast"

// pointModel uses a model's points as every quantile, as people use the maximum of the last minutes.
type pointModel struct {
	forecast.Model
}

// Fit fits the model.
func (m pointModel) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Model.Fit(s)
	return pointFitted{fitted}, err
}

type pointFitted struct {
	forecast.Fitted
}

// Forecast has the points as quantiles.
func (f pointFitted) Forecast(h int) forecast.Forecast {
	out := f.Fitted.Forecast(h)
	out.Marginals = pointMarginals(out.Point)
	return out
}

type pointMarginals []float64

// Quantile is the point.
func (p pointMarginals) Quantile(i int, _ float64) float64 { return p[i] }
