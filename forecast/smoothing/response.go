package smoothing

// gains are the shares of a forecast error by which level, trend and season move, and the damping of the trend.
type gains struct {
	level, trend, season, phi float64
}

// response computes the responses of the series, 1, 2, … steps later, to a forecast error of 1: c_j = α + β(φ + … + φ^j), plus γ at whole
// seasons. Here, α, β and γ are the gains (Hyndman, Koehler, Ord & Snyder 2008, table 6.1).
type response struct {
	gains
	period, step int
	power, sum   float64
}

// newResponse returns the sequence before its first element. A period of 0 means no season.
func newResponse(g gains, period int) response {
	return response{gains: g, period: period, power: 1}
}

// next returns the response of the next step.
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
