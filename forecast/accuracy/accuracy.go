// Package accuracy scores forecasts: points by their errors, quantiles and intervals by proper scores and by their
// coverage.
//
//	MAE, RMSE          errors in the units of the series
//	MASE, OWA          relative to a naive method: these compare different series
//	SMAPE              in percent, for series that stay away from 0
//	Pinball, WQL       a quantile, and several, relative to the size of the series
//	Winkler, Coverage  an interval: its width and misses, and the share of hits
//
// Every measure compares step by step and skips the steps where the observation or the forecast is missing (NaN).
// Slices of different length are an error (forecast.ErrParameter), and so is a comparison of which nothing is left
// (forecast.ErrTooShort): a score of nothing is not 0. Smaller is better for all but Coverage.
package accuracy

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// MAE is the mean absolute error, in the units of the series. The median minimises it.
func MAE(actual, point []float64) (float64, error) {
	return mean("MAE", actual, point, func(y, f float64) float64 { return math.Abs(y - f) })
}

// RMSE is the root of the mean squared error, in the units of the series. The mean minimises it.
func RMSE(actual, point []float64) (float64, error) {
	largest := 0.0
	for i, y := range actual {
		if i < len(point) && !math.IsNaN(y-point[i]) {
			largest = math.Max(largest, math.Abs(y-point[i]))
		}
	}
	if largest == 0 || math.IsInf(largest, 0) {
		largest = 1
	}
	// Divided by the largest error, no square overflows or vanishes.
	squares, err := mean("RMSE", actual, point, func(y, f float64) float64 {
		e := (y - f) / largest
		return e * e
	})
	return largest * math.Sqrt(squares), err
}

// MASE is the MAE over that of the seasonal naive method one step ahead on the training series, period 1 being the last
// value (Hyndman & Koehler 2006). Below 1 the forecast beats what is free.
func MASE(actual, point, train []float64, period int) (float64, error) {
	scale, err := naiveError(train, period)
	if err != nil {
		return 0, err
	}
	value, err := MAE(actual, point)
	return value / scale, err
}

// SMAPE is the symmetric mean absolute percentage error 200·|y−f|/(|y|+|f|), from 0 to 200, as the M4 competition had
// it (Makridakis 1993; Makridakis, Spiliotis & Assimakopoulos 2020). A step where both are 0 counts as 0.
func SMAPE(actual, point []float64) (float64, error) {
	return mean("sMAPE", actual, point, func(y, f float64) float64 {
		if y == f {
			return 0
		}
		return 200 * math.Abs(y-f) / (math.Abs(y) + math.Abs(f))
	})
}

// Pinball is the mean quantile loss of forecasts of the p-quantile, 0 < p < 1 (Koenker & Bassett 1978): p per unit that
// the observation lies above, 1−p per unit that it lies below. The p-quantile minimises it.
func Pinball(actual, quantile []float64, p float64) (float64, error) {
	if !(p > 0 && p < 1) {
		return 0, fmt.Errorf("pinball: p = %v, expected a value between 0 and 1: %w", p, forecast.ErrParameter)
	}
	return mean("pinball", actual, quantile, func(y, q float64) float64 { return math.Max(p*(y-q), (p-1)*(y-q)) })
}

// Winkler is the mean interval score of central intervals with coverage 1−alpha, 0 < alpha < 1 (Winkler 1972; Gneiting
// & Raftery 2007): the width, and 2/alpha per unit that the observation lies outside.
func Winkler(actual, lower, upper []float64, alpha float64) (float64, error) {
	if !(alpha > 0 && alpha < 1) {
		return 0, fmt.Errorf("winkler: alpha = %v, expected a value between 0 and 1: %w", alpha, forecast.ErrParameter)
	}
	return meanInterval("winkler", actual, lower, upper, func(y, l, u float64) float64 {
		return u - l + 2/alpha*(math.Max(l-y, 0)+math.Max(y-u, 0))
	})
}

// Coverage is the share of observations that lie within their interval, bounds included. It is no score: a wide enough
// interval covers everything. Read it together with Winkler.
func Coverage(actual, lower, upper []float64) (float64, error) {
	return meanInterval("coverage", actual, lower, upper, func(y, l, u float64) float64 {
		if l <= y && y <= u {
			return 1
		}
		return 0
	})
}

// mean is the mean loss over the steps where both values are there.
func mean(name string, actual, point []float64, loss func(y, f float64) float64) (float64, error) {
	return meanInterval(name, actual, point, point, func(y, f, _ float64) float64 { return loss(y, f) })
}

// meanInterval is the mean loss over the steps where all three values are there.
func meanInterval(name string, actual, lower, upper []float64, loss func(y, l, u float64) float64) (float64, error) {
	if len(lower) != len(actual) || len(upper) != len(actual) {
		return 0, fmt.Errorf("%s: %d observations with %d and %d forecasts, expected equal numbers: %w",
			name, len(actual), len(lower), len(upper), forecast.ErrParameter)
	}
	average, n := 0.0, 0.0
	for i, y := range actual {
		if math.IsNaN(y) || math.IsNaN(lower[i]) || math.IsNaN(upper[i]) {
			continue
		}
		n++
		average += (loss(y, lower[i], upper[i]) - average) / n
	}
	if n == 0 {
		return 0, fmt.Errorf("%s: none of the %d steps has both an observation and a forecast: %w",
			name, len(actual), forecast.ErrTooShort)
	}
	return average, nil
}

// naiveError is the MAE of the seasonal naive method one step ahead on the training series. A series that repeats itself
// exactly gives no scale.
func naiveError(train []float64, period int) (float64, error) {
	if period < 1 {
		return 0, fmt.Errorf("MASE: period %d, expected 1 or more: %w", period, forecast.ErrParameter)
	}
	if len(train) <= period {
		return 0, fmt.Errorf("MASE: %d training values for period %d: %w", len(train), period, forecast.ErrTooShort)
	}
	scale, err := MAE(train[period:], train[:len(train)-period])
	if err != nil {
		return 0, fmt.Errorf("MASE on the training series: %w", err)
	}
	if scale == 0 {
		return 0, fmt.Errorf("MASE: the training series repeats itself exactly, which gives no scale: %w",
			forecast.ErrTooShort)
	}
	return scale, nil
}

// WQL is the weighted quantile loss: twice the sum of the Pinball losses over the sum of |y|, averaged over the levels; a
// row of quantiles for each. Relative to the size of what came, it compares series and sums up many: concatenate them
// (Salinas, Flunkert, Gasthaus & Januschowski 2020; GIFT-Eval has levels of .1 to .9).
func WQL(actual []float64, quantiles [][]float64, levels []float64) (float64, error) {
	if len(quantiles) != len(levels) || len(levels) == 0 {
		return 0, fmt.Errorf("WQL: %d levels, %d rows: %w", len(levels), len(quantiles), forecast.ErrParameter)
	}
	size, err := MAE(actual, make([]float64, len(actual)))
	if err == nil && size == 0 {
		err = fmt.Errorf("all observations are 0: %w", forecast.ErrTooShort)
	}
	if err != nil {
		return 0, fmt.Errorf("WQL: %w", err)
	}
	sum := 0.0
	for i, p := range levels {
		loss, err := Pinball(actual, quantiles[i], p)
		if err != nil {
			return 0, fmt.Errorf("WQL: %w", err)
		}
		sum += 2 * loss / size
	}
	return sum / float64(len(levels)), nil
}

// Score is what the M4 competition ranked a method by: both means over all of its series.
type Score struct {
	MASE, SMAPE float64
}

// OWA is the overall weighted average of the M4 competition: the mean of both measures, each over that of the Naive2
// method (package naive) on the same series (Makridakis, Spiliotis & Assimakopoulos 2020). Below 1 beats Naive2.
func OWA(method, naive2 Score) (float64, error) {
	if !(naive2.MASE > 0 && naive2.SMAPE > 0) {
		return 0, fmt.Errorf("OWA: Naive2 has MASE %v and sMAPE %v, expected both to be above 0: %w",
			naive2.MASE, naive2.SMAPE, forecast.ErrParameter)
	}
	return (method.MASE/naive2.MASE + method.SMAPE/naive2.SMAPE) / 2, nil
}
