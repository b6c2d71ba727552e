package objective

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// Replay is what the accounts look like over time: the demand, and the replicas of two simulated autoscalers. It covers the budget's
// period, or what has passed of it.
type Replay struct {
	// Start of the first interval; each takes Step.
	Start time.Time
	Step  time.Duration
	// Intervals, oldest first.
	Intervals []RaceInterval
}

// RaceInterval is one of a Race.
type RaceInterval struct {
	// Demand is the highest of the interval, in replicas at full capacity; NaN while it is unknown.
	Demand float32
	// Before is the autoscaler as it was before, Forewarm the one that reads Forewarm's value.
	Before, Forewarm ReplayTrack
}

// ReplayTrack is an autoscaler in an interval.
type ReplayTrack struct {
	// Ready replicas when the demand was highest.
	Ready int32
	// Late is the share of the interval's demand that waited too long.
	Late float32
}

// raceIntervals is how many intervals a race has at most.
const raceIntervals = 1008

// raceStep is the shortest of some round steps at which a period has no more than raceIntervals.
func raceStep(period, step time.Duration) time.Duration {
	const minute = time.Minute
	for _, round := range []time.Duration{
		minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 20 * minute, 30 * minute,
	} {
		if round%step == 0 && period <= raceIntervals*round {
			return round
		}
	}
	return max(time.Hour, time.Duration(math.Ceil(period.Hours()/raceIntervals))*time.Hour)
}

// race records a Race.
type race struct {
	step     time.Duration
	capacity float64
	// at is the time of the next step, open the interval that it falls into, with late demand in place of its share.
	at      time.Time
	open    RaceInterval
	arrived float64
	// intervals are shared by the reports.
	intervals series.Tail[RaceInterval]
}

func newRace(c Config, period time.Duration) *race {
	step := raceStep(period, c.Step)
	return &race{
		step: step, capacity: c.Autoscalers[0].Spec.Capacity, at: c.Start, open: emptyInterval(),
		intervals: series.NewTail[RaceInterval](int(max(period/step, 1))),
	}
}

func emptyInterval() RaceInterval { return RaceInterval{Demand: float32(math.NaN())} }

// played is an autoscaler in the step that has ended: its ready replicas, and the late demand in replica-hours.
type played struct {
	ready int
	late  float64
}

// record ends a step, of which so much demand arrived, and the interval that ends with it.
func (r *race) record(arrived float64, step time.Duration, before, forewarm played) {
	demand := float32(arrived / r.capacity)
	if highest := arrived >= 0 && !(demand <= r.open.Demand); highest || math.IsNaN(float64(r.open.Demand)) {
		r.open.Before.Ready = int32(before.ready)     // At most an HPA's maximum.
		r.open.Forewarm.Ready = int32(forewarm.ready) // At most an HPA's maximum.
		if highest {
			r.open.Demand = demand
		}
	}
	if arrived >= 0 {
		r.arrived += arrived / r.capacity * step.Hours()
	}
	r.open.Before.Late += float32(before.late)
	r.open.Forewarm.Late += float32(forewarm.late)
	r.skip(step)
	if !r.at.Equal(r.at.Truncate(r.step)) {
		return
	}
	for _, one := range []*ReplayTrack{&r.open.Before, &r.open.Forewarm} {
		if one.Late > 0 {
			one.Late = min(one.Late/float32(r.arrived), 1)
		}
	}
	r.intervals.Push(r.open)
	r.open, r.arrived = emptyInterval(), 0
}

// skip passes a step before anything is simulated.
func (r *race) skip(step time.Duration) { r.at = r.at.Add(step) }

// report returns the intervals that have ended. The caller must not change them.
func (r *race) report() *Replay {
	all := r.intervals.Newest()
	return &Replay{
		Start: r.at.Truncate(r.step).Add(-time.Duration(len(all)) * r.step), Step: r.step, Intervals: all,
	}
}

// correct sets the late share of the served value in the intervals of a clock hour.
func (r *race) correct(hour time.Time, late float64) {
	r.intervals.Edit(func(all []RaceInterval) {
		start := r.at.Truncate(r.step).Add(-time.Duration(len(all)) * r.step)
		for i := range all {
			if start.Add(time.Duration(i) * r.step).Truncate(time.Hour).Equal(hour) {
				all[i].Forewarm.Late = float32(late)
			}
		}
	})
}
