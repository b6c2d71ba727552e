package ets

import (
	"cmp"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// parameters are the smoothing parameters of the innovations form. Those that the model lacks are 0, Phi is 1 where the
// trend is not damped. Beta and Gamma are shares of the whole surprise, so in the usual region β ≤ α and γ ≤ 1 − α.
type parameters struct {
	Alpha, Beta, Gamma, Phi float64
}

// state is level, trend and the last season; at is the slot of the coming step. Without a season it has one slot of 0
// that changes nothing.
type state struct {
	level, trend float64
	season       []float64
	at           int
}

// trail is what a pass leaves behind at every step: the surprise y − μ, and the trend before it. The backward pass
// walks over it.
type trail struct {
	surprise, trend []float64
}

func newTrail(n int) trail {
	room := make([]float64, 2*n)
	return trail{surprise: room[:n:n], trend: room[n:]}
}

// smooth passes over the values from the state, and changes its season in place. A missing value leaves a surprise of
// 0. It returns the sum of the squared surprises.
func (t trail) smooth(p parameters, s *state, values []float64) float64 {
	alpha, beta, gamma, phi := p.Alpha, p.Beta, p.Gamma, p.Phi
	level, trend, at, season := s.level, s.trend, s.at, s.season
	n := len(values)
	surprises, trends := t.surprise[:n], t.trend[:n]
	sum := 0.0
	for i, y := range values {
		damped := phi * trend
		base := level + damped
		surprise := y - base - season[at]
		if math.IsNaN(y) {
			surprise = 0
		}
		surprises[i], trends[i] = surprise, trend
		sum += surprise * surprise
		level = base + alpha*surprise
		trend = damped + beta*surprise
		season[at] += gamma * surprise
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
	return sum
}

// perfect bounds the mean square of the surprises from below, in units of the largest value squared: fits better than
// the digits of the data are all the same.
const perfect = 1e-30

// deviance is −2 times the logarithm of the likelihood of n surprises at its best variance, less constants: n log Σa²
// (Hyndman et al. 2008, eq. 5.3).
func deviance(sum float64, n int) float64 {
	return float64(n) * math.Log(math.Max(sum, float64(n)*perfect))
}

// logLikelihood is that of a deviance in the units of the series, less its constants: −n/2 log Σa².
func (d sample) logLikelihood(deviance float64) float64 {
	return -deviance/2 - float64(d.count)*math.Log(d.scale)
}

// aicc is Akaike's criterion, 2k − 2 log L, corrected for short series (Hurvich & Tsai 1989); +Inf where there are too
// few observations for it.
func aicc(logLikelihood float64, estimated, observations int) float64 {
	k, n := float64(estimated), float64(observations)
	if n-k-1 <= 0 {
		return math.Inf(1)
	}
	return 2*k - 2*logLikelihood + 2*k*(k+1)/(n-k-1)
}

// slopes are the derivatives of the deviance to the parameters and to the starting states; season is that of the slot
// which state.at counts from 0, so it lies beside the starting season.
type slopes struct {
	parameters
	level, trend float64
	season       []float64
}

// walk goes backward over the trail of a pass that began at slot 0 and had so many observations with this sum of
// squared surprises. At every step it adds what the mean does to the deviance, and what goes through the states: one
// reverse sweep gives all derivatives for the price of about two passes (the adjoint method; reverse-mode
// differentiation).
func (s *slopes) walk(t trail, p parameters, values []float64, sum float64, count int) {
	clear(s.season)
	var d parameters
	level, trend := 0.0, 0.0
	season := s.season
	at := len(values) % len(season)
	n := float64(count)
	weight := -2 * n / math.Max(sum, n*perfect)
	i := len(values)
	for i > 0 {
		i--
		if at == 0 {
			at = len(season)
		}
		at--
		a, slot := t.surprise[i], season[at]
		d.Alpha += level * a
		d.Beta += trend * a
		d.Gamma += slot * a
		mean := 0.0
		if !math.IsNaN(values[i]) { // A gap's mean moves nothing.
			mean = weight*a - p.Alpha*level - p.Beta*trend - p.Gamma*slot
		}
		damped := level + trend + mean
		level += mean
		season[at] = slot + mean
		d.Phi += t.trend[i] * damped
		trend = p.Phi * damped
	}
	s.parameters, s.level, s.trend = d, level, trend
}

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
