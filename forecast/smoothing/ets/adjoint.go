package ets

import "math"

// slopes are the derivatives of a function of the means to the parameters and to the starting states; season is that
// of the slot which state.at counts from 0, so it lies beside the starting season.
type slopes struct {
	Parameters
	level, trend float64
	season       []float64
}

// additive walks backward over the trail of an additive pass that began at slot 0. pull[i] is the derivative of the
// function to the i-th mean, with the states held; the walk adds what goes through the states: one reverse sweep gives
// all derivatives for the price of about two passes (the adjoint method; reverse-mode differentiation).
func (s *slopes) additive(t trail, p Parameters, values, pull []float64) {
	clear(s.season)
	var d Parameters
	level, trend := 0.0, 0.0
	season := s.season
	at := len(values) % len(season)
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
			mean = pull[i] - p.Alpha*level - p.Beta*trend - p.Gamma*slot
		}
		damped := level + trend + mean
		level += mean
		season[at] = slot + mean
		d.Phi += t.trend[i] * damped
		trend = p.Phi * damped
	}
	s.Parameters, s.level, s.trend = d, level, trend
}

// multiplicative is additive for a season that multiplies.
func (s *slopes) multiplicative(t trail, p Parameters, values, pull []float64) {
	clear(s.season)
	var d Parameters
	level, trend := 0.0, 0.0
	season := s.season
	at := len(values) % len(season)
	i := len(values)
	for i > 0 {
		i--
		if at == 0 {
			at = len(season)
		}
		at--
		a, base, factor, slot := t.surprise[i], t.base[i], t.season[i], season[at]
		overFactor, overBase := 1/factor, 1/base
		share, turn := a*overFactor, a*overBase
		d.Alpha += level * share
		d.Beta += trend * share
		d.Gamma += slot * turn
		toShare, toTurn := p.Alpha*level+p.Beta*trend, p.Gamma*slot
		mean := 0.0
		if !math.IsNaN(values[i]) {
			mean = pull[i] - toShare*overFactor - toTurn*overBase
		}
		season[at] = slot - toShare*share*overFactor + mean*base
		toBase := level - toTurn*turn*overBase + mean*factor
		damped := trend + toBase
		level = toBase
		d.Phi += t.trend[i] * damped
		trend = p.Phi * damped
	}
	s.Parameters, s.level, s.trend = d, level, trend
}
