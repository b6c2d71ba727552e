package innovations

// Gains are the shares of a surprise that go to level, trend and season, and the damping of the trend.
type Gains struct {
	Level, Trend, Season, Phi float64
}

// Response yields the responses of the series, 1, 2, … steps on, to a surprise of 1: c_j = α + β(φ + … + φ^j), and γ on
// top at whole seasons, with α, β, γ the gains (Hyndman, Koehler, Ord & Snyder 2008, table 6.1).
type Response struct {
	Gains
	period, step int
	power, sum   float64
}

// NewResponse is the sequence from its beginning; a period of 0 means no season.
func NewResponse(g Gains, period int) Response {
	return Response{Gains: g, period: period, power: 1}
}

// Next is the response one step further on.
func (r *Response) Next() float64 {
	r.step++
	r.power *= r.Phi
	r.sum += r.power
	c := r.Level + r.Trend*r.sum
	if r.step == r.period {
		c += r.Season
		r.step = 0
	}
	return c
}
