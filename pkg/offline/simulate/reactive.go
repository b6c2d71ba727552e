package simulate

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

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
