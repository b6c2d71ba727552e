package ets

import "math"

// forecastable reports whether the weights of past observations fade: whether all roots of
//
//	Θ(L) = (1 − φL)(1 − L^m) + αL(1 − φL)S(L) + φβL·S(L) + γL^m(1 − φL),   S(L) = 1 + L + … + L^(m−1)
//
// lie outside the unit circle. It is the numerator of y = Θ(L)/((1 − φL)(1 − L^m))·ε, the reduced form of the linear
// model (Hyndman et al. 2008, ch. 10 and 11), with the unit root that level and season share cancelled. The recursions
// of Schur and Cohn decide it without finding a root.
func (s *space) forecastable(p Parameters) bool {
	m := s.period
	phi, beta := p.Phi, p.Phi*p.Beta
	if s.spec.Trend == NoTrend {
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

// rootsOutside reports whether all roots of theta[0] + theta[1]·L + … lie outside the unit circle; theta[0] is 1. It is the
// step-down recursion that turns the coefficients of an autoregression into partial autocorrelations: all of them must
// be below 1. theta is destroyed.
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
