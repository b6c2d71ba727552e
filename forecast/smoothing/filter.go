package smoothing

import "math"

// state is level, trend and the last season. season has at least one element, 0 where the model has no season; at is
// the slot of the coming step.
type state struct {
	level, trend float64
	season       []float64
	at           int
}

// gains are the shares of a surprise that go to level, trend and season, and the damping.
type gains struct {
	level, trend, season, phi float64
}

func (p Parameters) gains() gains {
	return gains{level: p.Alpha, trend: p.Alpha * p.Beta, season: (1 - p.Alpha) * p.Gamma, phi: p.Phi}
}

// expected is the forecast of the coming step.
func (s *state) expected(g gains) float64 { return s.level + g.phi*s.trend + s.season[s.at] }

// move takes the state one step on, past a surprise.
func (s *state) move(g gains, surprise float64) {
	damped := g.phi * s.trend
	s.level += damped + g.level*surprise
	s.trend = damped + g.trend*surprise
	s.season[s.at] += g.season * surprise
	s.at++
	if s.at == len(s.season) {
		s.at = 0
	}
}

// run moves the state over the values and returns the sum of the squared surprises.
func (s *state) run(g gains, values []float64) float64 {
	level, trend, at, season := s.level, s.trend, s.at, s.season
	sum := 0.0
	for _, y := range values {
		damped := g.phi * trend
		surprise := y - level - damped - season[at]
		if math.IsNaN(surprise) {
			surprise = 0
		}
		sum += surprise * surprise
		level += damped + g.level*surprise
		trend = damped + g.trend*surprise
		season[at] += g.season * surprise
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
	return sum
}

// responses yields the responses of the series, 1, 2, … steps on, to a surprise of 1: c_j = α + αβ(φ + … + φ^j), and
// (1−α)γ on top at whole seasons (Hyndman, Koehler, Ord & Snyder 2008, table 6.1).
type responses struct {
	gains
	period, step int
	power, sum   float64
}

func newResponses(g gains, period int) responses {
	return responses{gains: g, period: period, power: 1}
}

// next is the response one step further on.
func (r *responses) next() float64 {
	r.step++
	r.power *= r.phi
	r.sum += r.power
	c := r.level + r.trend*r.sum
	if r.step == r.period {
		c += r.season
		r.step = 0
	}
	return c
}
