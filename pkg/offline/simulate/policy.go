package simulate

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Policy decides what the HPA reads.
type Policy interface {
	// Serve takes the newest observation and returns the value that is served until the next one, in the unit of the
	// demand. With NaN, nothing is served, and the HPA keeps its replicas.
	Serve(o Observation) float64
}

// Observation is what a policy knows at a refresh.
type Observation struct {
	// At is its time. Demand that arrives then or later is not known.
	At time.Time
	// Demand is the mean of the last minute, like a rate over [1m]. NaN if the newest sample is missing.
	Demand float64
	// Arrived is the mean since the observation before. NaN where it is missing.
	Arrived float64
}

// Pool decides how much capacity is held ahead.
type Pool interface {
	// Hold takes the placements of the workloads at a time and returns how many free places to hold for all of them
	// until the next refresh. Demand that arrives then or later is not known.
	Hold(at time.Time, all []sim.Placement) int
}

// ServedValues returns what a policy serves over a demand, without a workload: the values do not depend on the
// scaling. A Tape serves them again.
func ServedValues(demand forecast.Series, refresh time.Duration, p Policy) ([]float64, error) {
	if err := validateDemand(demand); err != nil {
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
