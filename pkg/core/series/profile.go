package series

import "math"

// profileWeight is the weight of a new season in the profile.
const profileWeight = 0.4

// Profile is a seasonal profile: the mean of each slot of a season, exponentially weighted over the seasons.
type Profile struct {
	// slots are NaN until they have a value; steps is the number of values in a slot.
	slots []float64
	steps int
	seen  int
	sum   float64
	known int
}

// NewProfile returns an empty profile of so many slots of so many values each, both 1 or more.
func NewProfile(slots, steps int) *Profile {
	p := &Profile{slots: make([]float64, slots), steps: steps}
	for i := range p.slots {
		p.slots[i] = math.NaN()
	}
	return p
}

// Ahead returns the profile now, interpolated between its slot and the next one, and its maximum from now through so
// many slots after this one. Both are NaN where this slot has no value yet.
func (p *Profile) Ahead(slots int) (now, highest float64) {
	at := p.seen / p.steps
	now = p.slot(at)
	if math.IsNaN(now) {
		return now, now
	}
	if next := p.slot(at + 1); !math.IsNaN(next) {
		now += float64(p.seen%p.steps) / float64(p.steps) * (next - now)
	}
	highest = now
	for i := 1; i <= slots; i++ {
		highest = MaxKnown(highest, p.slot(at+i))
	}
	return now, highest
}

func (p *Profile) slot(i int) float64 { return p.slots[i%len(p.slots)] }

// Learn adds the current value to its slot, NaN where it is missing.
func (p *Profile) Learn(v float64) {
	if !math.IsNaN(v) {
		p.sum += v
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
