package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
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
	// Hold returns how many free places to hold for all workloads together until the next refresh. all has the placements of the workloads at
	// a time. Demand that arrives at this time or later is not known.
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

// Observed serves the observed demand, and over a gap the last observation, like an HPA on a rate.
type Observed struct {
	last float64
}

// NewObserved has observed nothing yet.
func NewObserved() *Observed { return &Observed{last: math.NaN()} }

// Serve is the observed demand.
func (p *Observed) Serve(o Observation) float64 {
	if !math.IsNaN(o.Demand) {
		p.last = o.Demand
	}
	return p.last
}

// Max serves the observed maximum of the recent past: max_over_time(…[15m]).
type Max struct {
	recent *series.TrailingMax
}

// NewMax looks back over a window of at least one refresh.
func NewMax(window, refresh time.Duration) *Max {
	return &Max{series.NewTrailingMax(max(int(window/refresh), 1))}
}

// Serve is the maximum over the window, the newest observation included.
func (p *Max) Serve(o Observation) float64 { return p.recent.Push(o.Demand) }

// Offset serves the largest of the observed demand and the demand a day and a week ago, each over the lead time after
// that hour: PromQL's offset. It needs no model and pays for every peak of yesterday.
type Offset struct {
	observed *Observed
	ahead    *series.TrailingMax
	before   []series.Delay
}

// NewOffset looks ahead of the same time of each period before (a day, a week) by a lead time shorter than the periods.
func NewOffset(lead, refresh time.Duration, periods ...time.Duration) *Offset {
	window := int(lead / refresh)
	p := &Offset{observed: NewObserved(), ahead: series.NewTrailingMax(window + 1)}
	for _, period := range periods {
		p.before = append(p.before, series.NewDelay(max(int(period/refresh)-window, 1)))
	}
	return p
}

// Serve is the maximum over now and the days before.
func (p *Offset) Serve(o Observation) float64 {
	value, ahead := p.observed.Serve(o), p.ahead.Push(o.Demand)
	for i := range p.before {
		value = series.MaxKnown(value, p.before[i].Push(ahead))
	}
	return value
}

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
