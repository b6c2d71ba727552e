package simulate

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// Policy decides what the HPA reads.
type Policy interface {
	// Serve takes the newest observation and returns the value that is served until the next one, in the unit of the
	// demand. NaN serves none: the HPA then keeps the replicas that there are.
	Serve(o Observation) float64
}

// Observation is what is known when a policy is asked.
type Observation struct {
	// At is the time of it. Nothing that arrives then or later is known.
	At time.Time
	// Demand is the mean of the last minute, as a rate over [1m] is. NaN where the newest sample is missing.
	Demand float64
	// Arrived is the mean since the observation before. NaN where it is missing.
	Arrived float64
}

// Pool decides how much capacity waits for replicas.
type Pool interface {
	// Hold takes how the workloads stand at a time and returns how many places to hold for all of them until it is asked
	// again, beside those that replicas have. Nothing that arrives then or later is known.
	Hold(at time.Time, all []hpasim.Standing) int
}

// Values are what a policy serves over a demand, asked every so often, without a workload: what it serves does not depend
// on how that is scaled. Play them by a Tape.
func Values(demand forecast.Series, refresh time.Duration, p Policy) ([]float64, error) {
	if err := checkDemand(demand); err != nil {
		return nil, err
	}
	every, err := wholeSteps(demand.Step, refresh)
	if err != nil {
		return nil, err
	}
	m := newMeter(demand.Step, every)
	out := make([]float64, 0, (demand.Len()+every-1)/every)
	for i, v := range demand.Values {
		if i%every == 0 {
			out = append(out, p.Serve(m.observation(demand.TimeAt(i))))
		}
		m.add(v)
	}
	return out, nil
}

// Tape is a policy that serves recorded values, one at each refresh, and none after the last.
type Tape struct {
	values []float64
}

// NewTape starts at the first of the values, which it keeps.
func NewTape(values []float64) *Tape { return &Tape{values} }

// Serve is the next value.
func (t *Tape) Serve(Observation) float64 {
	if len(t.values) == 0 {
		return math.NaN()
	}
	value := t.values[0]
	t.values = t.values[1:]
	return value
}
