package ets

import "math"

// The usual region: 0 < α < 1, 0 < β < α, 0 < γ < 1 − α, 0.8 ≤ φ ≤ 0.98, with the margins that R's ets keeps from the
// borders, so that the likelihoods compare.
const (
	margin   = 1e-4
	leastPhi = 0.8
	mostPhi  = 0.98
)

// longestChecked is the longest season for which every point of a search is checked: the check takes the square of it.
// With a longer one the search runs without, and once more with it where its end is not forecastable.
const longestChecked = 200

// bound is the range of one parameter, of which a share u in [0, 1] is taken: low + (span + tilt·α)·u. One that the
// model lacks is not free, and has its low.
type bound struct {
	free            bool
	low, span, tilt float64
}

// space maps the angles that the search moves to the smoothing parameters: u = sin²(angle), so that a border is a
// smooth turning point at a finite place. The order is α, β, γ, φ.
type space struct {
	bounds [4]bound
	// angles is the number of free parameters.
	angles int
	// check asks whether a point of the box is forecastable: with trend and season, half of it is not.
	check bool
	trend Trend
	// period is 1 without a season.
	period int
	// theta is room for the check.
	theta []float64
}

func newSpace(m Model) *space {
	out := &space{trend: m.Trend, period: max(m.Period, 1)}
	out.check = m.Period > 0 && m.Period <= longestChecked && m.Trend != NoTrend
	out.theta = make([]float64, 3*(out.period+2))
	boxes := [4]bound{
		{low: margin, span: 1 - 2*margin},
		{low: margin, span: -margin, tilt: 1},
		{low: margin, span: 1 - margin, tilt: -1},
		{low: leastPhi, span: mostPhi - leastPhi},
	}
	out.bounds[3].low = 1
	for i, has := range [4]bool{true, m.Trend != NoTrend, m.Period > 0, m.Trend == DampedTrend} {
		if has {
			out.bounds[i] = boxes[i]
			out.bounds[i].free = true
			out.angles++
		}
	}
	return out
}

// at is the parameters at the angles. False means that they are not forecastable, where that is checked.
func (s *space) at(angles []float64) (parameters, bool) {
	var v [4]float64
	next := 0
	for i, b := range s.bounds {
		v[i] = b.low
		if b.free {
			sine := math.Sin(angles[next])
			v[i] += math.Max(b.span+b.tilt*v[0], 0) * sine * sine
			next++
		}
	}
	p := parameters{Alpha: v[0], Beta: v[1], Gamma: v[2], Phi: v[3]}
	return p, !s.check || s.forecastable(p)
}

// chain turns the slopes d along the parameters at the angles into those along the angles.
func (s *space) chain(angles []float64, d parameters, dst []float64) {
	along := [4]float64{d.Alpha, d.Beta, d.Gamma, d.Phi}
	first, sine := s.bounds[0], math.Sin(angles[0])
	alpha := first.low + first.span*sine*sine
	last := s.angles
	for i := len(along) - 1; i >= 0; i-- {
		b := s.bounds[i]
		if !b.free {
			continue
		}
		last--
		sine, cosine := math.Sincos(angles[last])
		dst[last] = along[i] * math.Max(b.span+b.tilt*alpha, 0) * 2 * sine * cosine
		along[0] += along[i] * b.tilt * sine * sine
	}
}

// angle is the one at which a share of a bound is taken.
func angle(share float64) float64 { return math.Asin(math.Sqrt(share)) }

// forecastable reports whether the weights of past observations fade: whether all roots of
//
//	Θ(L) = (1 − φL)(1 − L^m) + αL(1 − φL)S(L) + φβL·S(L) + γL^m(1 − φL),   S(L) = 1 + L + … + L^(m−1)
//
// lie outside the unit circle. It is the numerator of y = Θ(L)/((1 − φL)(1 − L^m))·ε, the reduced form of the linear
// model (Hyndman et al. 2008, ch. 10 and 11), with the unit root that level and season share cancelled. The recursions
// of Schur and Cohn decide it without finding a root.
func (s *space) forecastable(p parameters) bool {
	m := s.period
	phi, beta := p.Phi, p.Phi*p.Beta
	if s.trend == NoTrend {
		phi, beta = 0, 0
	}
	theta := s.theta[:m+2]
	clear(theta)
	add := func(lag int, c float64) { // c·L^lag·(1 − φL)
		theta[lag] += c
		if lag < m+1 {
			theta[lag+1] -= phi * c
		}
	}
	add(0, 1)
	add(m, p.Gamma-1)
	for j := 1; j <= m; j++ {
		add(j, p.Alpha)
		theta[j] += beta
	}
	return rootsOutside(theta, s.theta[m+2:])
}

// edge keeps the roots this far from the unit circle, in terms of the last coefficient of the recursion.
const edge = 1e-10

// rootsOutside reports whether all roots of theta[0] + theta[1]·L + … lie outside the unit circle; theta[0] is 1. It is
// the step-down recursion that turns the coefficients of an autoregression into partial autocorrelations: all of them
// must be below 1. theta is destroyed.
func rootsOutside(theta, room []float64) bool {
	for n := len(theta) - 1; n >= 1; n-- {
		k := theta[n]
		if !(math.Abs(k) < 1-edge) {
			return false
		}
		scale := 1 / (1 - k*k)
		for i := range n {
			room[i] = (theta[i] - k*theta[n-i]) * scale
		}
		copy(theta[:n], room[:n])
	}
	return true
}
