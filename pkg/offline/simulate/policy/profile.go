package policy

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/trailing"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// DayProfile serves the larger of the observed demand and the maximum of the daily profile over the time ahead. The
// profile is the mean of each slot of a day, exponentially weighted over the days.
type DayProfile struct {
	observed *Observed
	profile  *trailing.Profile
	ahead    int // slots after this one
}

// NewDayProfile has slots of a length that divides a day, and looks ahead of now.
func NewDayProfile(slot, ahead, refresh time.Duration) *DayProfile {
	const day = 24 * time.Hour
	return &DayProfile{
		observed: NewObserved(), ahead: int(ahead/slot) + 1,
		profile: trailing.NewProfile(int(max(day/slot, 1)), max(int(slot/refresh), 1)),
	}
}

// Serve is the maximum of now and the profile ahead.
func (p *DayProfile) Serve(o simulate.Observation) float64 {
	_, highest := p.profile.Ahead(p.ahead)
	p.profile.Learn(o.Demand)
	return trailing.MaxKnown(p.observed.Serve(o), highest)
}
