package main

import "github.com/forewarm/forewarm/forecast"

// sure is a model whose points stand for every quantile, as people use a maximum of the last minutes.
type sure struct {
	forecast.Model
}

// Fit fits the model.
func (m sure) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Model.Fit(s)
	return sureFitted{fitted}, err
}

type sureFitted struct {
	forecast.Fitted
}

// Forecast has the points for quantiles.
func (f sureFitted) Forecast(h int) forecast.Forecast {
	out := f.Fitted.Forecast(h)
	out.Marginals = points(out.Point)
	return out
}

type points []float64

// Quantile is the point.
func (p points) Quantile(i int, _ float64) float64 { return p[i] }
