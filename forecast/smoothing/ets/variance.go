package ets

import (
	"math"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/response"
)

// additiveErrors writes the standard errors of class 1, the linear models with additive errors: the variance of step h
// is σ²(1 + c₁² + … + c²ₕ₋₁), and a gap at the origin has put more responses before them (Hyndman et al. 2008, §6.1).
func (f *Fitted) additiveErrors(dst []float64) {
	variance, ahead := 1+f.missed+f.faded, f.gap
	for i := range dst {
		dst[i] = f.deviation * math.Sqrt(variance)
		c := ahead.Next()
		variance += c * c
	}
}

// multiplicativeErrors writes the standard errors of class 2, the models with multiplicative errors and linear states
// (Hyndman et al. 2008, §6.2). With μ the means,
//
//	θ₁ = μ₁²,   θₕ = μₕ² + σ² Σ c²ⱼ θₕ₋ⱼ
//	variance of step h = θₕ(1 + σ²) − μₕ²
//
// The means over a gap at the origin are taken to have been that of the first step.
func (f *Fitted) multiplicativeErrors(means, dst []float64) {
	unit := largest(means)
	if unit == 0 {
		return
	}
	sigma2 := f.deviation * f.deviation
	responses, ahead := response.New(f.parameters.gains(), f.period), f.gap
	squares, theta := make([]float64, len(means)), make([]float64, len(means))
	first := means[0] / unit * means[0] / unit
	// before is Σc² over the steps of the gap, as they reach the step looked at.
	before := f.missed + f.faded
	for i := range means {
		mean := means[i] / unit
		sum := first * before
		for j := range i {
			sum += squares[j] * theta[i-1-j]
		}
		theta[i] = math.Min(mean*mean+sigma2*sum, most)
		// Not θ(1 + σ²) − μ², which cancels.
		dst[i] = math.Min(unit*math.Sqrt(sigma2*(theta[i]+sum)), most)
		c, later := responses.Next(), ahead.Next()
		squares[i] = c * c
		before += later*later - c*c
	}
}

// most is where means and standard errors end that double with every step, as after a spike of many times the level.
const most = 1e200

// largest is the largest magnitude, by which the variances are divided on the way so that no square overflows.
func largest(values []float64) float64 {
	out := 0.0
	for _, v := range values {
		out = math.Max(out, math.Abs(v))
	}
	return out
}

// moments are those of level and trend times one slot of the season: E[ls], E[bs], E[l²s²], E[lbs²], E[b²s²].
type moments struct {
	l, b       float64
	ll, lb, bb float64
}

// seasonalErrors writes the standard errors of class 3, the models with multiplicative errors and a season that
// multiplies (Hyndman et al. 2008, §6.3). Until a slot of the season is due again, its factor does not depend on the
// surprises between, so the moments of level and trend with it move by themselves, and where the slot is due with those
// of (1 + γε). The error is taken to be Gaussian. A gap at the origin is gone over again, from before it.
func (f *Fitted) seasonalErrors(means, dst []float64) {
	unit := largest(means)
	if unit == 0 {
		return
	}
	sigma2 := f.deviation * f.deviation
	before, missing := f.beforeGap()
	for i := range means {
		factor := f.state.season[(f.state.at+i)%f.period]
		level, trend := before.level*factor/unit, before.trend*factor/unit
		now := moments{l: level, b: trend, ll: level * level, lb: level * trend, bb: trend * trend}
		base := level + f.parameters.Phi*trend
		now.ll += sigma2 * f.faded * base * base
		for j := range i + missing {
			now = now.next(f.parameters, sigma2, (i+missing-j)%f.period == 0)
		}
		mean := now.l + f.parameters.Phi*now.b
		square := now.ll + 2*f.parameters.Phi*now.lb + f.parameters.Phi*f.parameters.Phi*now.bb
		dst[i] = unit * math.Sqrt(math.Max((1+sigma2)*square-mean*mean, 0))
		if !(dst[i] < most) {
			dst[i] = most
		}
	}
}

// next is the moments a step later; due means that the slot they are about is the one that moves. With
// q = l + φb, the step is l ← q(1 + αε), b ← φb + βqε and, if due, s ← s(1 + γε); the weights are the moments
// E[(1 + γε)²], E[ε(1 + γε)²], E[ε²(1 + γε)²] and, along the means, E[ε(1 + γε)].
func (m moments) next(p Parameters, sigma2 float64, due bool) moments {
	one, two, three, along := 1.0, 0.0, sigma2, 0.0
	if due {
		g := p.Gamma
		along = g * sigma2
		one, two, three = 1+g*g*sigma2, 2*g*sigma2, sigma2*(1+3*g*g*sigma2)
	}
	q := m.l + p.Phi*m.b
	qq := m.ll + 2*p.Phi*m.lb + p.Phi*p.Phi*m.bb
	qb := p.Phi * (m.lb + p.Phi*m.bb)
	bb := p.Phi * p.Phi * m.bb
	return moments{
		l: q * (1 + p.Alpha*along), b: p.Phi*m.b + p.Beta*along*q,
		ll: qq * (one + 2*p.Alpha*two + p.Alpha*p.Alpha*three),
		lb: qb*(one+p.Alpha*two) + qq*p.Beta*(two+p.Alpha*three),
		bb: bb*one + 2*qb*p.Beta*two + qq*p.Beta*p.Beta*three,
	}
}
