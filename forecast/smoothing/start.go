package smoothing

import (
	"math"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// startLevel is the state at the first observation, and the step after it.
func startLevel(values []float64, first int) (state, int) {
	return state{level: values[first], season: []float64{0}}, first + 1
}

// startTrend is the state at the second observation, with the trend between the first two, and the step after it.
func startTrend(values []float64, first int) (state, int) {
	second := first + 1
	for math.IsNaN(values[second]) {
		second++
	}
	trend := (values[second] - values[first]) / float64(second-first)
	return state{level: values[second], trend: trend, season: []float64{0}}, second + 1
}

// startSeasons is how many whole seasons the starting states are averaged from.
const startSeasons = 2

// startSeason is the state from the classical decomposition of the first seasons, and the step after the first season.
// The level is the line's value before its first point, as R has it; it catches up within the second season.
func (s structure) startSeason(values []float64, first int) (state, int) {
	begin := innovations.Additive(values[first:first+s.period*startSeasons], s.period)
	return state{level: begin.Level, trend: begin.Trend, season: begin.Season}, first + s.period
}
