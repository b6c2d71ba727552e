package policy

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/trailing"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Ahead is the oracle: at every refresh the maximum that will be observed from now until a window later. It is handed the
// demand itself, and so knows the future: a bound, not a rival. Serve it by a simulate.Tape.
func Ahead(demand forecast.Series, window, refresh time.Duration) ([]float64, error) {
	observed, err := simulate.Values(demand, refresh, NewObserved())
	if err != nil {
		return nil, err
	}
	// The maximum of the steps ahead is that of the steps past in a series that runs backwards.
	slices.Reverse(observed)
	ahead := trailing.NewMax(int(window/refresh) + 1)
	for i, v := range observed {
		observed[i] = ahead.Push(v)
	}
	slices.Reverse(observed)
	return observed, nil
}
