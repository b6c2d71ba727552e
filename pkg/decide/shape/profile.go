package shape

import "math"

// profileWeight is the share of a day that moves the profile.
const profileWeight = 0.4

// profileSlots is how many slots a season has: of a day one every five minutes.
const profileSlots = 288

// profile is the course of a season: the mean of each slot, exponentially weighted over the seasons.
type profile struct {
	// slots are NaN until one was seen.
	slots []float64
	// steps of the series in a slot.
	steps int
	seen  int
	sum   float64
	known int
}

func newProfile(season int) *profile {
	steps := max(1, season/profileSlots)
	p := &profile{slots: make([]float64, max(1, season/steps)), steps: steps}
	for i := range p.slots {
		p.slots[i] = math.NaN()
	}
	return p
}

// rise is the profile's maximum over so many steps ahead over what it is now, 1 where it is not known.
func (p *profile) rise(ahead int) float64 {
	now := p.seen / p.steps
	current := p.slot(now)
	if math.IsNaN(current) {
		return 1
	}
	if next := p.slot(now + 1); !math.IsNaN(next) {
		share := float64(p.seen%p.steps) / float64(p.steps)
		current += share * (next - current)
	}
	top := current
	for i := 1; i <= ahead/p.steps+1; i++ {
		top = larger(top, p.slot(now+i))
	}
	switch {
	case current > 0:
		return top / current
	case top > 0:
		return math.Inf(1) // Out of nothing; the caller bounds it.
	default:
		return 1
	}
}

func (p *profile) slot(i int) float64 { return p.slots[i%len(p.slots)] }

// learn takes the demand of this step, NaN for a gap.
func (p *profile) learn(demand float64) {
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
