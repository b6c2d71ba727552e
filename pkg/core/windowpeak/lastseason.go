package windowpeak

import "math"

// lastSeasonSlots is how many times of a season are kept: of a day, one a minute.
const lastSeasonSlots = 1440

// lastSeason holds the actual window peaks of the last season, and their ratios to the demand before the window.
type lastSeason struct {
	maxima, ratios []float32
	steps          int // in a slot
	season         int // in slots
	seen           int
}

func newLastSeason(season int) lastSeason {
	steps := max(1, season/lastSeasonSlots)
	slots := max(1, season/steps)
	y := lastSeason{maxima: make([]float32, slots), ratios: make([]float32, slots), steps: steps, season: slots}
	for i := range y.maxima {
		y.maxima[i], y.ratios[i] = float32(math.NaN()), float32(math.NaN())
	}
	return y
}

// learn moves to the next step, and records the actual peak of the window before it, NaN if it is unknown. A lower bound does
// not replace a higher peak.
func (y *lastSeason) learn(window int, actual, ratio float64, exact bool) {
	if at := y.seen - window; at >= 0 {
		slot := at / y.steps % y.season
		if exact || !(actual <= float64(y.maxima[slot])) {
			y.maxima[slot], y.ratios[slot] = float32(actual), float32(ratio)
		}
	}
	y.seen++
}

// ratioAndPeak are the bounded ratio and the peak a season before the newest step; 1 and 0 if they are unknown.
func (y *lastSeason) ratioAndPeak() (ratio, maximum float64) {
	slot := (y.seen - 1) / y.steps % y.season
	ratio, maximum = float64(y.ratios[slot]), float64(y.maxima[slot])
	if math.IsNaN(ratio) || math.IsNaN(maximum) || math.IsInf(maximum, 0) {
		return 1, 0
	}
	return min(max(ratio, fallMost), riseMost), maximum
}

// peak is the actual peak a season ago of the newest step's window, NaN if it is unknown.
func (y *lastSeason) peak() float64 {
	if y.seen == 0 {
		return math.NaN()
	}
	return float64(y.maxima[(y.seen-1)/y.steps%y.season])
}
