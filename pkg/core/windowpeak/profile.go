package windowpeak

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// profileSlots is the number of slots in a season: one every five minutes if the season is a day.
const profileSlots = 288

// newSeasonProfile returns an empty profile for a season in steps, and the number of steps in a slot.
func newSeasonProfile(season int) (p *profile, steps int) {
	steps = max(1, season/profileSlots)
	return newProfile(max(1, season/steps), steps), steps
}

// rise returns the profile's maximum over the window, relative to the profile now; 1 if it is unknown.
func (f *features) rise() float64 {
	now, highest := f.profile.ahead(f.window/f.perSlot + 1)
	switch {
	case now > 0:
		return highest / now
	case highest > 0:
		return math.Inf(1) // The rise is from zero. The caller bounds it.
	default:
		return 1
	}
}

// profileWeight is the weight of a new season in the profile.
const profileWeight = 0.4

// profile is a seasonal profile: the mean of each slot of a season, exponentially weighted over the seasons.
type profile struct {
	// slots are NaN until they have a value. steps is the number of values in a slot.
	slots []float64
	steps int
	seen  int
	sum   float64
	known int
}

// newProfile returns an empty profile with the given number of slots and of values in a slot, both 1 or more.
func newProfile(slots, steps int) *profile {
	return &profile{slots: slices.Repeat([]float64{math.NaN()}, slots), steps: steps}
}

// ahead returns the profile now, interpolated between the current slot and the next one, and its maximum from now on over the given number
// of further slots. Both are NaN if the current slot has no value yet.
func (p *profile) ahead(slots int) (now, highest float64) {
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
		highest = series.MaxKnown(highest, p.slot(at+i))
	}
	return now, highest
}

func (p *profile) slot(i int) float64 { return p.slots[i%len(p.slots)] }

// learn adds the current value to its slot; NaN if it is missing.
func (p *profile) learn(v float64) {
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
