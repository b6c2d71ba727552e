package demand

import (
	"math"
	"time"
)

// Shape is what a series looks like if it does not look like a demand; empty otherwise.
type Shape string

const (
	// Counter: the series has rarely fallen for a day. A demand falls about as often as it rises.
	Counter Shape = "Counter"
	// Frozen: the series has been the same number for an hour, although it changed all the time before.
	Frozen Shape = "Frozen"
)

const (
	// ShapeTime is how much of a series is needed to judge its shape. A frozen series does not change in the last frozenTime.
	ShapeTime  = 24 * time.Hour
	frozenTime = time.Hour
	// A counter rises at least minRises times in a day. It falls when a process restarts, at most maxRestarts times.
	minRises, maxRestarts = 100, 10
	// A sum of counters over pods also falls when a pod goes away. It falls at most maxDepartures times, only by a part, and at least
	// risesPerFall times less often than it rises. A fall to less than restartShare of the sum is a restart.
	maxDepartures, risesPerFall = 48, 20
	restartShare                = 0.1
	// minRisingHours is the number of hours of the day in which a counter that has fallen must rise. This excludes a load that grows for an
	// hour and then ends, which also rarely falls.
	minRisingHours = 6
	// noisyShare is the minimum share of steps in which a noisy series changes.
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
	// restarts is the number of falls to less than restartShare of the value before.
	restarts int
	// same is the number of newest samples that are equal to the sample before them.
	same          int
	last, highest float64
}

func (t *tally) pairs() int { return t.rises + t.falls + t.equal }

// counts reports whether the numbers of rises and falls are those of a counter.
func (t *tally) counts() bool {
	departs := t.restarts <= maxRestarts && t.falls <= maxDepartures && t.rises >= risesPerFall*t.falls
	return t.rises >= minRises && (t.falls <= maxRestarts || departs)
}

// risingHours returns the number of hours in which the samples rise.
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
			t.same = 0 // The first known sample.
		}
		t.last, t.highest = v, math.Max(t.highest, v)
	}
	return t
}
