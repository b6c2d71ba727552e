package smoothing

// gains are the shares of a surprise that go to level, trend and season, and the damping of the trend.
type gains struct {
	level, trend, season, phi float64
}

// response yields the responses of the series, 1, 2, … steps on, to a surprise of 1: c_j = α + β(φ + … + φ^j), and γ on
// top at whole seasons, with α, β, γ the gains (Hyndman, Koehler, Ord & Snyder 2008, table 6.1).
type response struct {
	gains
	period, step int
	power, sum   float64
}

// newResponse is the sequence from its beginning; a period of 0 means no season.
func newResponse(g gains, period int) response {
	return response{gains: g, period: period, power: 1}
}

// next is the response one step further on.
func (r *response) next() float64 {
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
