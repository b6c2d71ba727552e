package forecast

import (
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Forecast says what the steps after an origin will be: Point[i] is the mean of the step at Start + i·Step, StdErr[i]
// the standard error of its forecast error (innovations summed, parameter uncertainty left out, as is usual).
type Forecast struct {
	Start  time.Time
	Step   time.Duration
	Point  []float64
	StdErr []float64
}

// TimeAt is the time of step i.
func (f Forecast) TimeAt(i int) time.Time { return f.Start.Add(time.Duration(i) * f.Step) }

// Quantile is the p-quantile of every step under Gaussian errors, 0 < p < 1. For quantiles that hold on the series at
// hand, whatever its errors look like, calibrate with package interval.
func (f Forecast) Quantile(p float64) []float64 {
	z := distuv.UnitNormal.Quantile(p)
	out := make([]float64, len(f.Point))
	for i, point := range f.Point {
		out[i] = point + z*f.StdErr[i]
	}
	return out
}
