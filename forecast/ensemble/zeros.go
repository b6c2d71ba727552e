package ensemble

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/intermittent"
)

// manyZeros is the share of zeros from which on models of intermittent demand take part.
const manyZeros = 0.2

// intermittents are candidates for a series with many zeros, none for others. They cost next to nothing.
func intermittents(s forecast.Series) []candidate {
	zeros := 0
	for _, y := range s.Values {
		if y == 0 {
			zeros++
		}
	}
	if float64(zeros) < manyZeros*float64(s.Observed()) {
		return nil
	}
	return []candidate{
		{model: intermittent.Croston{Corrected: true}, perStep: costSmoothing},
		{model: intermittent.TSB{}, perStep: costSmoothing},
	}
}

// nights are the probabilities that a slot of the shortest season is 0. Errors of the whole day say nothing of one slot:
// where it is 0 with a probability of p, its p-quantile is 0, whatever they are. Without a season there are none.
func nights(seasons []int, n int) intermittent.Slots {
	if len(seasons) == 0 || n < 2*seasons[0] {
		return intermittent.Slots{}
	}
	return intermittent.NewSlots(seasons[0])
}

// scales are the units in which errors may be measured. Errors that are alike in one of them can be compared with each
// other whatever the level of the series; which one that is differs from series to series.
type scales struct {
	// typical is the slow mean of the magnitude.
	typical record
	// season is a ring of the values of the last season, the next one's place at; hours are, by the part of the season
	// that they came in, the magnitudes of the differences from one season to the next, and differences those of all.
	season      []float64
	at          int
	hours       [hoursOfSeason]record
	differences record
}

// unit is a kind of scale.
type unit int

const (
	// constant is the typical magnitude: errors do not depend on the level.
	constant unit = iota
	// proportional is the magnitude of the forecast.
	proportional
	// hourly is how much that hour differs from one day to the next.
	hourly
)

const unitCount = int(hourly) + 1

const (
	levelHalfLife = 720
	hoursHalfLife = 60
	// hoursOfSeason is how many parts of a season are told apart.
	hoursOfSeason = 24
	// leastLevel and leastDifference, as shares of the typical magnitude, are the least a unit can be. Errors in next to
	// nothing would be far too large for the time after: with 0.02 for the level, an outage multiplied the bounds of the
	// next day.
	leastLevel      = 0.2
	leastDifference = 0.01
)

// newScales tells the hours of the first of the seasons apart.
func newScales(seasons []int) scales {
	var s scales
	if len(seasons) > 0 {
		s.season = slices.Repeat([]float64{math.NaN()}, seasons[0])
	}
	return s
}

// observe takes a value, NaN for a gap.
func (s *scales) observe(y float64) {
	if !math.IsNaN(y) {
		s.typical.add(math.Abs(y), halfLife(levelHalfLife))
	}
	if len(s.season) == 0 {
		return
	}
	if d := math.Abs(y - s.season[s.at]); !math.IsNaN(d) {
		s.hour(1).add(d, halfLife(hoursHalfLife))
		s.differences.add(d, halfLife(levelHalfLife))
	}
	if !math.IsNaN(y) {
		s.season[s.at] = y
	}
	s.at = (s.at + 1) % len(s.season)
}

// halfLife is the factor by which a mean forgets at each of so many steps.
func halfLife(steps float64) float64 { return math.Exp2(-1 / steps) }

// hour is that of the step so many after the newest value.
func (s *scales) hour(steps int) *record {
	at := (s.at + steps - 1) % len(s.season)
	return &s.hours[at*hoursOfSeason/len(s.season)]
}

// level is the typical magnitude, never 0.
func (s *scales) level() float64 {
	level := s.typical.mean()
	if !(level > 1e-300) {
		return 1 // Zeros so far: any unit will do.
	}
	return level
}

// in is the unit of a kind for a forecast so many steps ahead.
func (s *scales) in(kind unit, point float64, steps int) float64 {
	level := s.level()
	switch kind {
	case proportional:
		return math.Max(math.Abs(point), leastLevel*level)
	case hourly:
		if !(s.differences.weight > 0) {
			return level
		}
		// The mean of all counts for one difference, so that an hour not seen yet has one, too.
		hour := s.hour(steps)
		return math.Max((hour.sum+s.differences.mean())/(hour.weight+1), leastDifference*level)
	case constant:
	}
	return level
}
