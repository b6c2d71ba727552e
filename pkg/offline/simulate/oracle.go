package simulate

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// OracleValues returns, for every refresh, the maximum that will be observed over the window ahead. It knows the
// future: a bound, not a competitor. A Tape serves the values.
func OracleValues(demand forecast.Series, window, refresh time.Duration) ([]float64, error) {
	observed, err := ServedValues(demand, refresh, NewObserved())
	if err != nil {
		return nil, err
	}
	// The maximum of the steps ahead is the trailing maximum of the reversed series.
	slices.Reverse(observed)
	ahead := series.NewTrailingMax(int(window/refresh) + 1)
	for i, v := range observed {
		observed[i] = ahead.Push(v)
	}
	slices.Reverse(observed)
	return observed, nil
}
