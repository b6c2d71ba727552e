package compare

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// IdleTime is how a workload that may scale to zero spends the time without demand. Only idle spells of an hour or more count.
type IdleTime struct {
	// Idle is the length of all idle spells, and Asleep is the part of it in which the workload had no replica.
	Idle, Asleep time.Duration
	// Returns are the times that demand rose to a tenth of a replica after an hour or more below that. Recurring are those of them that came within half an hour of the time of
	// day of another one in the three days before: only these can be foreseen.
	Returns, Recurring Returns
}

// Returns counts how often demand returned, and after how many of these returns it found no ready replica within the first hour.
type Returns struct{ Count, Asleep int }

// sameTime is how far apart the times of day of recurring returns are, and returnDays is how many days back they are looked for.
const (
	sameTime   = 30 * time.Minute
	returnDays = 3
)

// minIdleSpell is how long the demand must be 0 for an idle spell, and for how long demand counts as a return.
const minIdleSpell = time.Hour

// idleMeter measures the IdleTime step by step.
type idleMeter struct {
	IdleTime

	// spell is the length of the current time without demand, and asleep is the part of it without replicas. low is the time since the
	// demand was last at least a tenth of a replica.
	spell, asleep, low time.Duration
	// returning is what is left of the hour after the newest return. missed is true if demand found no replica in it, and recurs if it recurs.
	returning      time.Duration
	missed, recurs bool
	// returns are the times of the returns.
	returns []time.Time
}

func (i *idleMeter) step(m *sim.StepResult) {
	if m.Arrived > 0 {
		i.endSpell()
	} else {
		i.spell += sync
		if m.Held == 0 {
			i.asleep += sync
		}
	}
	if i.low += sync; m.Arrived >= decide.IdleShare*sync.Hours() {
		if i.low > minIdleSpell {
			i.startReturn(m.At)
		}
		i.low = 0
	}
	if i.returning > 0 && m.Arrived > 0 && m.Ready == 0 && !i.missed {
		i.missed = true
		i.Returns.Asleep++
		if i.recurs {
			i.Recurring.Asleep++
		}
	}
	i.returning -= sync
}

// startReturn records a return.
func (i *idleMeter) startReturn(at time.Time) {
	i.returning, i.missed, i.recurs = minIdleSpell, false, i.hasRecurred(at)
	i.returns = append(i.returns, at)
	i.Returns.Count++
	if i.recurs {
		i.Recurring.Count++
	}
}

// hasRecurred reports whether a return came at this time of day in the days before.
func (i *idleMeter) hasRecurred(at time.Time) bool {
	return slices.ContainsFunc(i.returns, func(before time.Time) bool {
		ago := at.Sub(before) + sameTime
		return ago >= day && ago < returnDays*day+2*sameTime && ago%day <= 2*sameTime
	})
}

// endSpell ends the current time without demand.
func (i *idleMeter) endSpell() {
	if i.spell >= minIdleSpell {
		i.Idle += i.spell
		i.Asleep += i.asleep
	}
	i.spell, i.asleep = 0, 0
}

// result is the IdleTime of all steps.
func (i *idleMeter) result() *IdleTime {
	i.endSpell()
	return &i.IdleTime
}
