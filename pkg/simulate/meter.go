package simulate

import (
	"math"
	"time"
)

// observedOver is the window of the rate that is observed.
const observedOver = time.Minute

// meter makes observations of the demand's steps.
type meter struct {
	// newest holds the steps of the window, in a ring.
	newest []float64
	seen   int
	// between is how many steps there are from one observation to the next.
	between int
}

func newMeter(step time.Duration, between int) meter {
	size := max(int(observedOver/step), between, 1)
	return meter{newest: make([]float64, size), between: between}
}

func (m *meter) add(demand float64) {
	m.newest[m.seen%len(m.newest)] = demand
	m.seen++
}

func (m *meter) observation(at time.Time) Observation {
	return Observation{At: at, Demand: m.mean(len(m.newest)), Arrived: m.mean(m.between)}
}

// mean is that of the newest steps, those that are missing left out; NaN where the newest one is missing. It is summed
// anew, from the oldest on, so that nothing of what has left the window stays behind.
func (m *meter) mean(steps int) float64 {
	steps = min(steps, m.seen)
	if steps == 0 {
		return math.NaN()
	}
	sum, known, last := 0.0, 0, math.NaN()
	for i := m.seen - steps; i < m.seen; i++ {
		last = m.newest[i%len(m.newest)]
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
