package windowpeak

import "math"

// yesterdaySlots is how many times of a season are kept: of a day one a minute.
const yesterdaySlots = 1440

// yesterday is what came a season ago: the maximum over the window, and how many times the demand before it that was.
type yesterday struct {
	maxima, ratios []float32
	steps          int // in a slot
	season         int // in slots
	seen           int
}

func newYesterday(season int) yesterday {
	steps := max(1, season/yesterdaySlots)
	slots := max(1, season/steps)
	y := yesterday{maxima: make([]float32, slots), ratios: make([]float32, slots), steps: steps, season: slots}
	for i := range y.maxima {
		y.maxima[i], y.ratios[i] = float32(math.NaN()), float32(math.NaN())
	}
	return y
}

// learn moves to the next step, and takes what came over the window before it, NaN where that is not known. What is not
// exact came at least: it does not replace what was more.
func (y *yesterday) learn(window int, came, ratio float64, exact bool) {
	if at := y.seen - window; at >= 0 {
		slot := at / y.steps % y.season
		if exact || !(came <= float64(y.maxima[slot])) {
			y.maxima[slot], y.ratios[slot] = float32(came), float32(ratio)
		}
	}
	y.seen++
}

// at is, for the newest step, the bounded ratio a season ago and the maximum then; 1 and 0 where they are not known.
func (y *yesterday) at() (ratio, maximum float64) {
	slot := (y.seen - 1) / y.steps % y.season
	ratio, maximum = float64(y.ratios[slot]), float64(y.maxima[slot])
	if math.IsNaN(ratio) || math.IsNaN(maximum) || math.IsInf(maximum, 0) {
		return 1, 0
	}
	return min(max(ratio, fallMost), riseMost), maximum
}

// maximum is what came a season ago over the window of the newest step, NaN where that is not known.
func (y *yesterday) maximum() float64 {
	if y.seen == 0 {
		return math.NaN()
	}
	return float64(y.maxima[(y.seen-1)/y.steps%y.season])
}
