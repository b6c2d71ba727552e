package demand

import (
	"math"
	"time"
)

// Shape is what a series looks like where it does not look like a demand; empty otherwise.
type Shape string

const (
	// Counter: for a day it has hardly ever fallen. A demand falls at night, or at least as often as it rises.
	Counter Shape = "Counter"
	// Frozen: for an hour it has been the same number, while it changed all the time before.
	Frozen Shape = "Frozen"
)

const (
	// ShapeTime is how much of a series its shape is judged by, and frozenTime the end of it in which a frozen series does not change.
	ShapeTime  = 24 * time.Hour
	frozenTime = time.Hour
	// A counter rises at least leastRises times in a day. It falls when a process restarts: mostRestarts times at most.
	leastRises, mostRestarts = 100, 10
	// A noisy series changes in at least this share of its steps.
	noisyShare = 0.5
)

// ShapeOf judges the samples of the last ShapeTime, NaN for gaps, one step apart. It is empty for a series that is shorter, and for
// one with more gaps than samples.
func ShapeOf(samples []float64, step time.Duration) Shape {
	day, hour := int(ShapeTime/step), int(frozenTime/step)
	if hour < 2 || len(samples) < day {
		return ""
	}
	newest := samples[len(samples)-day:]
	now, before := tallyOf(newest), tallyOf(newest[:day-hour])
	switch {
	case before.pairs() < day/2:
		return ""
	case now.rises >= leastRises && now.falls <= mostRestarts && now.last == now.highest:
		return Counter
	case now.last > 0 && now.same >= hour-1 && float64(before.rises+before.falls) >= noisyShare*float64(before.pairs()):
		return Frozen
	}
	return ""
}

// tally counts how each sample differs from the known one before it.
type tally struct {
	rises, falls, equal int
	// same is how many of the newest samples equal the one before.
	same          int
	last, highest float64
}

func (t *tally) pairs() int { return t.rises + t.falls + t.equal }

func tallyOf(samples []float64) tally {
	t := tally{last: math.NaN()}
	for _, v := range samples {
		if math.IsNaN(v) {
			continue
		}
		t.same++
		switch {
		case v == t.last:
			t.equal++
		case v > t.last:
			t.rises, t.same = t.rises+1, 0
		case v < t.last:
			t.falls, t.same = t.falls+1, 0
		default:
			t.same = 0 // The first.
		}
		t.last, t.highest = v, math.Max(t.highest, v)
	}
	return t
}
