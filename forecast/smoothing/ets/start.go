package ets

import (
	"cmp"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// point is a place that the search may start from: its deviance, the first guess of the states that it stands on, and
// the family of starts that it belongs to.
type point struct {
	x             []float64
	value         float64
	guess, family int
}

// apart is the best point of every family, best first; points are in that order. A family of which no point is
// forecastable is left out.
func apart(points []point) []point {
	var out []point
	for _, p := range points {
		known := slices.ContainsFunc(out, func(q point) bool { return q.family == p.family })
		if !known && !math.IsInf(p.value, 1) {
			out = append(out, p)
		}
	}
	return out
}

// grid is points of slow and fast smoothing, at the first guesses of the states, best first. The likelihood has several
// maxima: typically one where the season stands still and one where it follows, and of each one with a slow and one
// with a fast level. These are the families of which each gets a descent.
func (s *search) grid() []point {
	points := []point{{x: make([]float64, s.variables())}}
	next := 0
	for i, b := range s.space.bounds {
		if b.free {
			points = spread(points, i, next)
			next++
		}
	}
	for i := range points {
		s.start = s.guesses[points[i].guess]
		points[i].value = s.Value(points[i].x)
		if math.IsNaN(points[i].value) {
			points[i].value = math.Inf(1)
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.value, b.value) })
	return points
}

// spread multiplies the points by the shares that parameter i, the angle at x[next], may start at.
func spread(points []point, i, next int) []point {
	shares := [4][]float64{{0.1, 0.4, 0.8}, {1e-4, 0.02, 0.3}, {0.4, 0.02}, {0.8}}[i]
	var out []point
	for _, from := range points {
		for k, share := range shares {
			to := from
			to.x = slices.Clone(from.x)
			to.x[next] = angle(share)
			switch i {
			case 0:
				to.family += k / 2
			case 2:
				to.family += 2 * k
				to.guess = k
			}
			out = append(out, to)
		}
	}
	return out
}

const (
	// startSeasons is how many seasons the season of the beginning is averaged over, and startSteps how many steps at
	// least the starting level and trend are taken from.
	startSeasons = 4
	startSteps   = 10
)

// firstStates are the two first guesses: with the season of the beginning, for a season that moves on from there, and
// with the mean one of the whole series, for a season that stands still.
func (m Model) firstStates(values []float64) [2]state {
	if m.Period == 0 {
		out := m.firstState(values, 0)
		return [2]state{out, out}
	}
	whole := len(values) / m.Period
	return [2]state{m.firstState(values, min(whole, startSeasons)), m.firstState(values, whole)}
}

// firstState is where the search for the starting states starts: a season from the classical decomposition of so many
// seasons at the beginning, and level and trend from the line through the first values without it (Hyndman et al. 2008,
// §2.6). The first value must exist, and two seasons where there is a season.
func (m Model) firstState(values []float64, seasons int) state {
	out := state{season: []float64{0}}
	if m.Period > 0 {
		out.season = innovations.Additive(values[:seasons*m.Period], m.Period).Season
	}
	window := make([]float64, min(max(startSteps, 2*m.Period), len(values)))
	for i := range window {
		window[i] = values[i] - out.season[i%len(out.season)]
	}
	if m.Trend == NoTrend {
		out.level = mean(window)
		return out
	}
	out.level, out.trend = innovations.Line(window)
	return out
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
