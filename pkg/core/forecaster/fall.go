package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// fall is a sudden low that has lasted for so many steps that it is no longer doubted, at that share of the demand before it. The zero
// fall is none.
type fall struct {
	steps int
	share float64
	// outage: it looks like an outage, and the value before it is held.
	outage bool
}

// decideFallen decides while a sudden low is followed and not learnt: the forecasts from before it are multiplied by the share of the
// demand that is left. If the demand recovers, nothing has been learnt. Before that nothing is decided, so the last value holds.
func (f *Forecaster) decideFallen() {
	lows, followed := f.filter.Fallen()
	if !followed {
		return
	}
	newer := make([]float64, 0, len(lows))
	for i := range lows {
		if v := lows[i].Demand; !lows[i].Dip && !math.IsNaN(v) { // The observed demand stays over gaps.
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

// suspectedOutage is the span of lows that look like an outage, up to the end of the samples.
func (f *Forecaster) suspectedOutage(end time.Time) demand.Span {
	return demand.Span{From: f.End(), To: end, Cause: demand.Outage, Samples: f.fall.steps}
}
