package ets

import "math"

// Parameters are the smoothing parameters of the innovations form. Those that the model lacks are 0, Phi is 1 where the
// trend is not damped. Beta and Gamma are shares of the whole surprise, so in the usual region β ≤ α and γ ≤ 1 − α.
type Parameters struct {
	Alpha, Beta, Gamma, Phi float64
}

// state is level, trend and the last season; at is the slot of the coming step. Without a season it has one slot that
// changes nothing: 0 where it is added, 1 where it multiplies.
type state struct {
	level, trend float64
	season       []float64
	at           int
}

// trail is what a pass leaves behind at every step: the surprise y − μ, and the parts of μ before it. The backward pass
// walks over it.
type trail struct {
	surprise, base, trend, season []float64
}

func newTrail(n int) trail {
	room := make([]float64, 4*n)
	return trail{
		surprise: room[:n:n], base: room[n : 2*n : 2*n], trend: room[2*n : 3*n : 3*n], season: room[3*n:],
	}
}

// additive smooths values from the state, whose season is added, and changes its season in place. A missing value
// leaves a surprise of 0.
//
// The recursions of a model with multiplicative errors are those with additive ones, as μ·ε = y − μ: the kind of error
// matters to the likelihood only.
func (t trail) additive(p Parameters, s *state, values []float64) {
	alpha, beta, gamma, phi := p.Alpha, p.Beta, p.Gamma, p.Phi
	level, trend, at, season := s.level, s.trend, s.at, s.season
	n := len(values)
	surprises, bases, trends := t.surprise[:n], t.base[:n], t.trend[:n]
	for i, y := range values {
		damped := phi * trend
		base := level + damped
		surprise := y - base - season[at]
		if math.IsNaN(y) {
			surprise = 0
		}
		surprises[i], bases[i], trends[i] = surprise, base, trend
		level = base + alpha*surprise
		trend = damped + beta*surprise
		season[at] += gamma * surprise
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
}

// multiplicative is additive with a season that multiplies. False means that a level or a season left the positive
// numbers, where the model means nothing.
func (t trail) multiplicative(p Parameters, s *state, values []float64) bool {
	alpha, beta, gamma, phi := p.Alpha, p.Beta, p.Gamma, p.Phi
	level, trend, at, season := s.level, s.trend, s.at, s.season
	n := len(values)
	surprises, bases, trends, seasons := t.surprise[:n], t.base[:n], t.trend[:n], t.season[:n]
	lowest := math.Inf(1)
	for i, y := range values {
		damped := phi * trend
		base, factor := level+damped, season[at]
		lowest = min(lowest, base, factor)
		surprise := y - base*factor
		if math.IsNaN(y) {
			surprise = 0
		}
		surprises[i], bases[i], trends[i], seasons[i] = surprise, base, trend, factor
		// The quotient does not wait for the surprise: the loop is as fast as the chain from level to level.
		over := 1 / factor
		level = base + (alpha*over)*surprise
		trend = damped + (beta*over)*surprise
		season[at] = factor + gamma*surprise/base
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
	return lowest > 0
}
