package accuracy

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// mean is the mean loss over the steps where both values are there.
func mean(name string, actual, point []float64, loss func(y, f float64) float64) (float64, error) {
	return meanInterval(name, actual, point, point, func(y, f, _ float64) float64 { return loss(y, f) })
}

// meanInterval is the mean loss over the steps where all three values are there.
func meanInterval(name string, actual, lower, upper []float64, loss func(y, l, u float64) float64) (float64, error) {
	if len(lower) != len(actual) || len(upper) != len(actual) {
		return 0, fmt.Errorf("%s: %d observations against %d and %d forecasts: %w",
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
		return 0, fmt.Errorf("%s: no step of %d has both an observation and a forecast: %w",
			name, len(actual), forecast.ErrTooShort)
	}
	return average, nil
}

// naiveError is the MAE of the seasonal naive method one step ahead on the training series. A series that repeats itself
// exactly gives no scale.
func naiveError(train []float64, period int) (float64, error) {
	if period < 1 {
		return 0, fmt.Errorf("MASE: period %d, want 1 or more: %w", period, forecast.ErrParameter)
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
