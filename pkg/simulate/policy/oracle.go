package policy

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// NewOracle serves the maximum that will be observed from now until a window later. It is the one policy that is handed
// the demand itself, and so knows the future: a bound, not a rival.
func NewOracle(demand forecast.Series, window, sync time.Duration) (*simulate.Tape, error) {
	observed, err := simulate.Values(demand, sync, NewObserved())
	if err != nil {
		return nil, err
	}
	// The maximum of the steps ahead is that of the steps past in a series that runs backwards.
	slices.Reverse(observed)
	ahead := newTrailing(int(window/sync) + 1)
	for i, v := range observed {
		observed[i] = ahead.push(v)
	}
	slices.Reverse(observed)
	return simulate.NewTape(observed), nil
}
