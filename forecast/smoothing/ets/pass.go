package ets

import "math"

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
