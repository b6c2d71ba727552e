package classify

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
	samples = samples[len(samples)-day:]
	var rises, falls, same, samePairs, pairs int // The newest samples that are the same, and pairs of the samples before those.
	last, highest := math.NaN(), 0.0
	for i, v := range samples {
		switch {
		case math.IsNaN(v):
			continue
		case v > last:
			rises++
		case v < last:
			falls++
		}
		if v == last {
			same++
		} else {
			same = 0
		}
		if i < day-hour && !math.IsNaN(last) {
			pairs++
			if v == last {
				samePairs++
			}
		}
		last, highest = v, math.Max(highest, v)
	}
	switch {
	case pairs < day/2:
		return ""
	case rises >= leastRises && falls <= mostRestarts && last == highest:
		return Counter
	case last > 0 && same >= hour-1 && float64(pairs-samePairs) >= noisyShare*float64(pairs):
		return Frozen
	}
	return ""
}
