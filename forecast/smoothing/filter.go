package smoothing

import (
	"math"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// state is level, trend and the last season. season has at least one element, 0 where the model has no season; at is
// the slot of the coming step.
type state struct {
	level, trend float64
	season       []float64
	at           int
}

// gains turns the parameters of the error-correction form into shares of the surprise.
func (p Parameters) gains() innovations.Gains {
	return innovations.Gains{Level: p.Alpha, Trend: p.Alpha * p.Beta, Season: (1 - p.Alpha) * p.Gamma, Phi: p.Phi}
}

// expected is the forecast of the coming step.
func (s *state) expected(g innovations.Gains) float64 {
	return s.level + g.Phi*s.trend + s.season[s.at]
}

// observe takes the state one step on with its observation, NaN where it is missing.
func (s *state) observe(g innovations.Gains, y float64) {
	surprise := y - s.expected(g)
	if math.IsNaN(y) {
		surprise = 0
	}
	s.move(g, surprise)
}

// points writes the forecasts of the coming steps to dst.
func (s *state) points(g innovations.Gains, dst []float64) {
	level, trend, at := s.level, s.trend, s.at
	for i := range dst {
		trend *= g.Phi
		level += trend
		dst[i] = level + s.season[at]
		at++
		if at == len(s.season) {
			at = 0
		}
	}
}

// move takes the state one step on, past a surprise.
func (s *state) move(g innovations.Gains, surprise float64) {
	damped := g.Phi * s.trend
	s.level += damped + g.Level*surprise
	s.trend = damped + g.Trend*surprise
	s.season[s.at] += g.Season * surprise
	s.at++
	if s.at == len(s.season) {
		s.at = 0
	}
}

// run moves the state over the values and returns the sum of the squared surprises.
func (s *state) run(g innovations.Gains, values []float64) float64 {
	level, trend, at, season := s.level, s.trend, s.at, s.season
	sum := 0.0
	for _, y := range values {
		damped := g.Phi * trend
		surprise := y - level - damped - season[at]
		if math.IsNaN(surprise) {
			surprise = 0
		}
		sum += surprise * surprise
		level += damped + g.Level*surprise
		trend = damped + g.Trend*surprise
		season[at] += g.Season * surprise
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
	return sum
}
