package forecast

import (
	"errors"
	"fmt"
	"math"
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
	for i := range out {
		out[i] = f.QuantileAt(i, p)
	}
	return out
}

// QuantileAt is the p-quantile of step i (of the index in Point).
func (f Forecast) QuantileAt(i int, p float64) float64 {
	if f.Marginals != nil {
		return f.Marginals.Quantile(i, p)
	}
	return f.Point[i] + distuv.UnitNormal.Quantile(p)*f.StdErr[i]
}

// The errors of Fit. They are wrapped with the numbers; test with errors.Is.
var (
	// ErrTooShort: fewer observations than the model needs. More history solves it.
	ErrTooShort = errors.New("too short")
	// ErrParameter: a parameter of the model lies outside its domain. Only the caller can correct it.
	ErrParameter = errors.New("parameter out of range")
	// ErrNotFinite: an observation is infinite. (NaN is a gap and is allowed.)
	ErrNotFinite = errors.New("not finite")
	// ErrNoConvergence: the optimiser found no finite optimum.
	ErrNoConvergence = errors.New("no convergence")
)

// Model is a forecasting method before it has seen data.
type Model interface {
	// Name is the method in the field's words, with its structure: "Holt-Winters(m=24)", "ARIMA(1,1,1)".
	Name() string
	// Fit estimates parameters and state from the series. The series is not kept. Errors wrap this package's sentinels.
	Fit(Series) (Fitted, error)
}

// Fitted is a model that has seen a series up to its origin (the last observation). It is not safe for concurrent use.
type Fitted interface {
	// Update moves the origin one step forward with its observation; NaN means that it is missing. Constant time, no
	// allocation; parameters stay as they were fitted.
	Update(y float64)
	// PointsTo writes the point forecasts of steps 1 … len(dst) after the origin to dst. No allocation.
	PointsTo(dst []float64)
	// Forecast is the forecast of steps 1 … h after the origin, with standard errors.
	Forecast(h int) Forecast
}

// Series is an evenly spaced series: Values[i] was observed at Start + i·Step. NaN marks a gap.
type Series struct {
	Start  time.Time
	Step   time.Duration
	Values []float64
}

// Len is the number of steps, gaps included.
func (s Series) Len() int { return len(s.Values) }

// TimeAt is the time of step i, which may lie beyond the end.
func (s Series) TimeAt(i int) time.Time { return s.Start.Add(time.Duration(i) * s.Step) }

// End is the time of the step after the last one: where the next observation belongs.
func (s Series) End() time.Time { return s.TimeAt(len(s.Values)) }

// Slice is the part [i, j) on the same grid. It shares the values.
func (s Series) Slice(i, j int) Series {
	return Series{Start: s.TimeAt(i), Step: s.Step, Values: s.Values[i:j:j]}
}

// Observed counts the steps that are not gaps.
func (s Series) Observed() int {
	n := 0
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// Check reports what makes the series unfit for any model: a step that is not positive (ErrParameter), an infinite
// value (ErrNotFinite) or fewer than want observations (ErrTooShort).
func (s Series) Check(want int) error {
	if s.Step <= 0 {
		return fmt.Errorf("series: step %v, expected more than 0: %w", s.Step, ErrParameter)
	}
	for i, v := range s.Values {
		if math.IsInf(v, 0) {
			return fmt.Errorf("series: value %d is %v: %w", i, v, ErrNotFinite)
		}
	}
	if n := s.Observed(); n < want {
		return fmt.Errorf("series: %d observations, expected at least %d: %w", n, want, ErrTooShort)
	}
	return nil
}
