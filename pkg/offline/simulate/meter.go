package simulate

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// rateWindow is the window of the observed rate.
const rateWindow = time.Minute

// meter makes observations of the demand's steps.
type meter struct {
	// newest holds the steps of the window.
	newest series.Ring[float64]
	// between is how many steps there are from one observation to the next.
	between int
}

func newMeter(step time.Duration, between int) meter {
	size := max(int(rateWindow/step), between, 1)
	return meter{newest: series.NewRing[float64](size), between: between}
}

func (m *meter) add(demand float64) { m.newest.Push(demand) }

func (m *meter) observation(at time.Time) Observation {
	return Observation{At: at, Demand: m.mean(m.newest.Cap()), Arrived: m.mean(m.between)}
}

// mean averages the newest steps without gaps; NaN if the newest step is a gap. It sums from the oldest step each
// time, so that no rounding error of old steps remains.
func (m *meter) mean(steps int) float64 {
	steps = min(steps, m.newest.Len())
	if steps == 0 {
		return math.NaN()
	}
	sum, known, last := 0.0, 0, math.NaN()
	for i := range steps {
		last = m.newest.Ago(steps - 1 - i)
		if !math.IsNaN(last) {
			sum += last
			known++
		}
	}
	if math.IsNaN(last) {
		return last
	}
	return sum / float64(known)
}
