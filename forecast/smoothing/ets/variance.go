package ets

import (
	"math"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/response"
)

// additiveErrors writes the standard errors of class 1, the linear models with additive errors: the variance of step h
// is σ²(1 + c₁² + … + c²ₕ₋₁), and a gap at the origin has put more responses before them.
func (f *Fitted) additiveErrors(dst []float64) {
	variance, ahead := 1+f.missed+f.faded, f.gap
	for i := range dst {
		dst[i] = f.deviation * math.Sqrt(variance)
		c := ahead.Next()
		variance += c * c
	}
}

// multiplicativeErrors writes the standard errors of class 2, the models with multiplicative errors and a season that
// is added if there is one, and of class 3, those whose season multiplies (Hyndman et al. 2008, §6.3 and 6.4). With μ the
// mean without the season of class 3, and s that season (1 in class 2),
//
//	θ₁ = μ₁²,   θₕ = μₕ² + σ² Σ c²ⱼ θₕ₋ⱼ
//	variance of step h = s²(θₕ(1 + σ²)(1 + γ²σ²)^k − μₕ²)
//
// where k, of class 3, is the number of whole seasons before step h and c has no part of the season. Over a gap, the
// means before the origin are taken to have been that of the first step.
func (f *Fitted) multiplicativeErrors(points, dst []float64) {
	sigma2 := f.deviation * f.deviation
	gains, period, turn := f.parameters.gains(), f.period, 1.0
	if f.spec.Season == MultiplicativeSeason {
		turn = 1 + gains.Season*gains.Season*sigma2
		gains.Season = 0
	}
	responses, ahead := response.Of(gains, period), f.gap
	ahead.Season = gains.Season
	// Everything is in units of the largest mean, so that no square overflows.
	unit := 0.0
	for _, y := range points {
		unit = math.Max(unit, math.Abs(y))
	}
	if unit == 0 {
		return
	}
	squares, theta := make([]float64, len(points)), make([]float64, len(points))
	// before is Σc² over the steps of the gap, as they reach the step looked at.
	before, turned := f.missed+f.faded, 1.0
	first := 0.0
	for i := range points {
		factor := 1.0
		if f.spec.Season == MultiplicativeSeason {
			factor = f.state.season[(f.state.at+i)%len(f.state.season)]
			if i > 0 && i%period == 0 {
				turned *= turn
			}
		}
		mean := points[i] / factor / unit
		if i == 0 {
			first = mean * mean
		}
		sum := first * before
		for j := range i {
			sum += squares[j] * theta[i-1-j]
		}
		theta[i] = mean*mean + sigma2*sum
		dst[i] = unit * math.Abs(factor) * math.Sqrt(math.Max(theta[i]*(1+sigma2)*turned-mean*mean, 0))
		c, later := responses.Next(), ahead.Next()
		squares[i] = c * c
		before += later*later - c*c
	}
}
