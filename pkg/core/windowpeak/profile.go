package windowpeak

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// profileSlots is how many slots a season has: of a day one every five minutes.
const profileSlots = 288

// newProfile is of a season in steps.
func newProfile(season int) (p *trailing.Profile, steps int) {
	steps = max(1, season/profileSlots)
	return trailing.NewProfile(max(1, season/steps), steps), steps
}

// rise is the profile's maximum over the window over what it is now, 1 where it is not known.
func (f *Features) rise() float64 {
	now, highest := f.profile.Ahead(f.window/f.perSlot + 1)
	switch {
	case now > 0:
		return highest / now
	case highest > 0:
		return math.Inf(1) // Out of nothing; the caller bounds it.
	default:
		return 1
	}
}
