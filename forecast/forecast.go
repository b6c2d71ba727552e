package forecast

import (
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Forecast is the forecast of the steps after an origin: Point[i] is the mean of the step at Start + i·Step, StdErr[i]
// the standard error of its forecast error (innovations summed; parameter uncertainty is left out, as is usual).
type Forecast struct {
	Start  time.Time
	Step   time.Duration
	Point  []float64
	StdErr []float64
	// Marginals are the distributions of the steps where they are not Gaussian: simulated, transformed or calibrated.
	// Nil means Gaussian.
	Marginals Marginals
}

// Marginals are the marginal distributions of a forecast's steps.
type Marginals interface {
	// Quantile is the p-quantile of step i (of the index in Point), 0 < p < 1. It does not decrease in p.
	Quantile(i int, p float64) float64
}

// TimeAt is the time of step i.
func (f Forecast) TimeAt(i int) time.Time { return f.Start.Add(time.Duration(i) * f.Step) }

// Quantile is the p-quantile of every step, 0 < p < 1: that of the Marginals, or else of Gaussian errors. For quantiles
// with the right coverage under any errors, calibrate with package interval.
func (f Forecast) Quantile(p float64) []float64 {
	out := make([]float64, len(f.Point))
	if f.Marginals != nil {
		for i := range out {
			out[i] = f.Marginals.Quantile(i, p)
		}
		return out
	}
	z := distuv.UnitNormal.Quantile(p)
	for i, point := range f.Point {
		out[i] = point + z*f.StdErr[i]
	}
	return out
}
