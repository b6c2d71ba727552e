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
		return 0, fmt.Errorf("pinball: p = %v, want it between 0 and 1: %w", p, forecast.ErrParameter)
	}
	return mean("pinball", actual, quantile, func(y, q float64) float64 { return math.Max(p*(y-q), (p-1)*(y-q)) })
}

// Winkler is the mean interval score of central intervals with coverage 1−alpha, 0 < alpha < 1 (Winkler 1972; Gneiting
// & Raftery 2007): the width, and 2/alpha per unit that the observation lies outside.
func Winkler(actual, lower, upper []float64, alpha float64) (float64, error) {
	if !(alpha > 0 && alpha < 1) {
		return 0, fmt.Errorf("winkler: alpha = %v, want it between 0 and 1: %w", alpha, forecast.ErrParameter)
	}
	return meanInterval("winkler", actual, lower, upper, func(y, l, u float64) float64 {
		return u - l + 2/alpha*(math.Max(l-y, 0)+math.Max(y-u, 0))
	})
}

// Coverage is the share of observations that lie within their interval, bounds included. It is no score: a wide enough
// interval covers everything. Read it beside Winkler.
func Coverage(actual, lower, upper []float64) (float64, error) {
	return meanInterval("coverage", actual, lower, upper, func(y, l, u float64) float64 {
		if l <= y && y <= u {
			return 1
		}
		return 0
	})
}
