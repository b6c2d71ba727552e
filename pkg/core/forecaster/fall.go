package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// fall is a sudden low that has lasted for long enough to be no longer doubted. steps is its duration, and share is its level as a share of
// the demand before it. The zero fall means that there is no such low.
type fall struct {
	steps int
	share float64
	// outage is true if the low looks like an outage. The value before it is then held.
	outage bool
}

// decideFallen decides while a sudden low is followed but not learned yet. It multiplies the forecasts from before the low by the share of
// the demand that is left, so if the demand recovers, nothing has been learned from the low. While the low is doubted, decideFallen does
// not decide, so the last value stays.
func (f *Forecaster) decideFallen() {
	lows, followed := f.filter.Fallen()
	if !followed {
		return
	}
	newer := make([]float64, 0, len(lows))
	for i := range lows {
		if v := lows[i].Demand; !lows[i].Dip && !math.IsNaN(v) { // The observed demand persists over gaps.
			newer = append(newer, v)
		}
	}
	if len(newer) == 0 {
		return
	}
	f.fall = fall{steps: len(lows), share: f.filter.FallenTo(), outage: f.screen.IsOutage(newer[len(newer)-1])}
	if f.fall.outage {
		f.fall.share = 1
		return
	}
	f.held = f.demand.with(newer)
	f.decide()
}

// Fallen are the sudden lows that are held back, the oldest first, and whether they are still doubted.
func (f *Forecaster) Fallen() (lows []demand.Reading, doubted bool) {
	lows, followed := f.filter.Fallen()
	return lows, len(lows) > 0 && !followed
}

// suspectedOutage returns the span of the lows that look like an outage, up to the end of the samples.
func (f *Forecaster) suspectedOutage(end time.Time) demand.Span {
	return demand.Span{From: f.End(), To: end, Cause: demand.Outage, Samples: f.fall.steps}
}
