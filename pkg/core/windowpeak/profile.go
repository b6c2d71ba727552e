package windowpeak

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// profileSlots is how many slots a season has: of a day, one every five minutes.
const profileSlots = 288

// newProfile makes a profile of a season in steps, and returns the steps of a slot.
func newProfile(season int) (p *series.Profile, steps int) {
	steps = max(1, season/profileSlots)
	return series.NewProfile(max(1, season/steps), steps), steps
}

// rise is the profile's maximum over the window, relative to the profile now; 1 if it is unknown.
func (f *Features) rise() float64 {
	now, highest := f.profile.Ahead(f.window/f.perSlot + 1)
	switch {
	case now > 0:
		return highest / now
	case highest > 0:
		return math.Inf(1) // From zero; the caller bounds it.
	default:
		return 1
	}
}
