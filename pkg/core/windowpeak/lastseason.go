package windowpeak

import (
	"math"
	"slices"
)

// lastSeasonSlots is the number of slots that are kept for a season: one a minute if the season is a day. lastWeekSlots is the number of
// slots for a week: one every five minutes, which takes a fifth of the memory.
const (
	lastSeasonSlots = 1440
	lastWeekSlots   = 7 * 288
)

// lastPeaks are the actual window peaks of the last season.
type lastPeaks struct {
	maxima []float32 // NaN if unknown, negative if limited by maxUnprecedented
	steps  int       // in a slot
	seen   int
}

// newLastPeaks returns an empty lastPeaks for a season in steps, with at least the given number of slots if the season has as many steps.
func newLastPeaks(season, slots int) lastPeaks {
	steps := max(1, season/slots)
	return lastPeaks{maxima: unknownSlots(max(1, season/steps)), steps: steps}
}

func unknownSlots(n int) []float32 { return slices.Repeat([]float32{float32(math.NaN())}, n) }

// learn moves to the next step and records the actual peak of the window that ends now; NaN if it is unknown. A lower bound does not
// replace a higher peak. It returns the slot in which the peak was recorded, or −1.
func (l *lastPeaks) learn(window int, actual float64, exact bool) int {
	slot := -1
	if at := l.seen - window; at >= 0 {
		if i := l.slot(at); exact || !(actual <= l.at(i)) {
			most := maxUnprecedented * l.at(i)
			if cut := math.Signbit(float64(l.maxima[i])); !cut && actual > most {
				actual = -most
			}
			l.maxima[i], slot = float32(actual), i
		}
	}
	l.seen++
	return slot
}

// at returns the peak in a slot.
func (l *lastPeaks) at(slot int) float64 { return math.Abs(float64(l.maxima[slot])) }

func (l *lastPeaks) slot(step int) int { return step / l.steps % len(l.maxima) }

// peak returns the actual peak a season ago of the window that starts at the newest step; NaN if it is unknown.
func (l *lastPeaks) peak() float64 {
	if l.seen == 0 {
		return math.NaN()
	}
	return l.at(l.slot(l.seen - 1))
}

// lastSeason is lastPeaks with the ratio of each peak to the demand before its window.
type lastSeason struct {
	lastPeaks
	ratios []float32
}

func newLastSeason(season int) lastSeason {
	peaks := newLastPeaks(season, lastSeasonSlots)
	return lastSeason{lastPeaks: peaks, ratios: unknownSlots(len(peaks.maxima))}
}

// learn records a window's actual peak, as lastPeaks.learn does, and its ratio.
func (y *lastSeason) learn(window int, actual, ratio float64, exact bool) {
	if slot := y.lastPeaks.learn(window, actual, exact); slot >= 0 {
		y.ratios[slot] = float32(ratio)
	}
}

// ratioAndPeak returns the bounded ratio and the peak a season before the newest step; 1 and 0 if they are unknown.
func (y *lastSeason) ratioAndPeak() (ratio, maximum float64) {
	ratio, maximum = float64(y.ratios[y.slot(y.seen-1)]), y.peak()
	if math.IsNaN(ratio) || math.IsNaN(maximum) || math.IsInf(maximum, 0) {
		return 1, 0
	}
	return min(max(ratio, fallMost), riseMost), maximum
}
