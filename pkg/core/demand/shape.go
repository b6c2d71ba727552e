package demand

import (
	"math"
	"time"
)

// Shape is what a series looks like where it does not look like a demand; empty otherwise.
type Shape string

const (
	// Counter: for a day it has hardly ever fallen. A demand falls about as often as it rises.
	Counter Shape = "Counter"
	// Frozen: for an hour it has been the same number, while it changed all the time before.
	Frozen Shape = "Frozen"
)

const (
	// ShapeTime is how much of a series its shape is judged by, and frozenTime the end of it in which a frozen series does not change.
	ShapeTime  = 24 * time.Hour
	frozenTime = time.Hour
	// A counter rises at least minRises times in a day. It falls when a process restarts: maxRestarts times at most.
	minRises, maxRestarts = 100, 10
	// A sum over pods also falls when one of them goes away: maxDepartures times at most, by a part of it, and risesPerFall times less
	// often than it rises. After a restart, a fall to less than restartShare, it begins again.
	maxDepartures, risesPerFall = 48, 20
	restartShare                = 0.1
	// minRisingHours: a series that has fallen is a counter if it rises in at least this many hours of the day. A load that grows
	// for an hour and then ends hardly falls either.
	minRisingHours = 6
	// noisyShare: a noisy series changes in at least this share of its steps.
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
	case now.counts() && (now.last == now.highest || risingHours(newest, hour) >= minRisingHours):
		return Counter
	case now.last > 0 && now.same >= hour-1 && float64(before.rises+before.falls) >= noisyShare*float64(before.pairs()):
		return Frozen
	}
	return ""
}

// tally counts how each sample differs from the known one before it.
type tally struct {
	rises, falls, equal int
	// restarts are the falls to less than restartShare.
	restarts int
	// same is how many of the newest samples equal the one before.
	same          int
	last, highest float64
}

func (t *tally) pairs() int { return t.rises + t.falls + t.equal }

// counts reports whether a counter falls and rises as often.
func (t *tally) counts() bool {
	departs := t.restarts <= maxRestarts && t.falls <= maxDepartures && t.rises >= risesPerFall*t.falls
	return t.rises >= minRises && (t.falls <= maxRestarts || departs)
}

// risingHours is in how many of the hours the samples rise.
func risingHours(samples []float64, hour int) int {
	n := 0
	for at := 0; at+hour <= len(samples); at += hour {
		if t := tallyOf(samples[at : at+hour]); t.rises > 0 {
			n++
		}
	}
	return n
}

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
			if v < restartShare*t.last {
				t.restarts++
			}
		default:
			t.same = 0 // The first.
		}
		t.last, t.highest = v, math.Max(t.highest, v)
	}
	return t
}
