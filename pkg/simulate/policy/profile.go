package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/simulate"
)

// profileWeight is the share of a day that moves the profile.
const profileWeight = 0.4

// DayProfile serves the larger of what is observed and the maximum, over the time ahead, of the profile of a day: the mean
// of every slot of a day, exponentially weighted over the days.
type DayProfile struct {
	observed *Observed
	// slots of the day; NaN until one was seen. steps are the observations in a slot, ahead the slots after this one.
	slots        []float64
	steps, ahead int
	seen         int
	sum          float64
	known        int
}

// NewDayProfile has slots of a length that divides a day, and looks ahead of now.
func NewDayProfile(slot, ahead, refresh time.Duration) *DayProfile {
	const day = 24 * time.Hour
	p := &DayProfile{
		observed: NewObserved(), slots: make([]float64, max(day/slot, 1)),
		steps: max(int(slot/refresh), 1), ahead: int(ahead/slot) + 1,
	}
	for i := range p.slots {
		p.slots[i] = math.NaN()
	}
	return p
}

// Serve is the maximum of now and the profile ahead.
func (p *DayProfile) Serve(o simulate.Observation) float64 {
	value := most(p.observed.Serve(o), p.highest())
	p.learn(o.Demand)
	return value
}

// highest is the profile's maximum from now on, where it is known: of this slot what it is now, between its own value and
// the next slot's.
func (p *DayProfile) highest() float64 {
	now := p.seen / p.steps
	current := p.slot(now)
	if math.IsNaN(current) {
		return current
	}
	highest := current
	if next := p.slot(now + 1); !math.IsNaN(next) {
		share := float64(p.seen%p.steps) / float64(p.steps)
		highest = current*(1-share) + next*share
	}
	for ahead := 1; ahead <= p.ahead; ahead++ {
		highest = most(highest, p.slot(now+ahead))
	}
	return highest
}

func (p *DayProfile) slot(i int) float64 { return p.slots[i%len(p.slots)] }

// learn adds an observation to the slot of now.
func (p *DayProfile) learn(demand float64) {
	if !math.IsNaN(demand) {
		p.sum += demand
		p.known++
	}
	p.seen++
	if p.seen%p.steps != 0 {
		return
	}
	slot := &p.slots[(p.seen-1)/p.steps%len(p.slots)]
	if p.known > 0 {
		mean := p.sum / float64(p.known)
		if math.IsNaN(*slot) {
			*slot = mean
		}
		*slot += profileWeight * (mean - *slot)
	}
	p.sum, p.known = 0, 0
}
