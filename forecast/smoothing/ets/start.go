package ets

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/classical"
)

const (
	// startSeasons is how many seasons the season of the beginning is averaged over, and startSteps how many steps at
	// least the starting level and trend are taken from.
	startSeasons = 4
	startSteps   = 10
	// leastFactor keeps a season that multiplies from 0.
	leastFactor = 0.01
)

// firstState is where the search for the starting states starts: a season from the classical decomposition of so many
// seasons at the beginning, and level and trend from the line through the first values without it (Hyndman et al. 2008,
// §2.6). The first value must exist, and two seasons where there is a season.
func firstState(values []float64, spec Spec, period, seasons int) state {
	out := state{season: []float64{0}}
	steps := startSteps
	switch spec.Season {
	case NoSeason:
	case AdditiveSeason:
		out.season = classical.Additive(values[:seasons*period], period).Season
		steps = max(steps, 2*period)
	case MultiplicativeSeason:
		out.season = classical.Multiplicative(values[:seasons*period], period).Season
		for i, factor := range out.season {
			out.season[i] = math.Max(factor, leastFactor)
		}
		steps = max(steps, 2*period)
	}
	window := make([]float64, min(steps, len(values)))
	for i := range window {
		factor := out.season[i%len(out.season)]
		if spec.Season == MultiplicativeSeason {
			window[i] = values[i] / factor
		} else {
			window[i] = values[i] - factor
		}
	}
	if spec.Trend == NoTrend {
		out.level = mean(window)
		out.lift(spec)
		return out
	}
	out.level, out.trend = classical.Line(window)
	if out.level <= 0 && spec.positive() {
		out.level, out.trend = mean(window), 0
	}
	out.lift(spec)
	return out
}

// lift shrinks a season that is added until it leaves the means positive where errors multiply.
func (s *state) lift(spec Spec) {
	if spec.Error != MultiplicativeError || spec.Season != AdditiveSeason {
		return
	}
	lowest := slices.Min(s.season)
	if room := 0.9 * s.level; -lowest > room {
		for i := range s.season {
			s.season[i] *= room / -lowest
		}
	}
}

// firstStates are the two first guesses: with the season of the beginning, for a season that moves on from there, and with
// the mean one of the whole series, for a season that stands still.
func firstStates(values []float64, spec Spec, period int) [2]state {
	if spec.Season == NoSeason {
		out := firstState(values, spec, 1, 0)
		return [2]state{out, out}
	}
	whole := len(values) / period
	return [2]state{
		firstState(values, spec, period, min(whole, startSeasons)), firstState(values, spec, period, whole),
	}
}

// mean is that of the observed values.
func mean(values []float64) float64 {
	out, count := 0.0, 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			count++
			out += (v - out) / count
		}
	}
	return out
}
