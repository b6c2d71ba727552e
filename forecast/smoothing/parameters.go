package smoothing

import (
	"fmt"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Parameters are the smoothing parameters of a fitted model. Those that its structure lacks are 0, Phi is 1 where the
// trend is not damped.
type Parameters struct {
	Alpha, Beta, Gamma, Phi float64
}

// fixed are the parameters that the caller set; nil ones are estimated.
type fixed struct {
	alpha, beta, gamma, phi *float64
}

// check reports every parameter outside its domain.
func (f fixed) check(name string) error {
	for _, p := range []struct {
		name  string
		value *float64
	}{{"alpha", f.alpha}, {"beta", f.beta}, {"gamma", f.gamma}, {"phi", f.phi}} {
		if p.value == nil {
			continue
		}
		if v := *p.value; !(v >= 0 && v <= 1) || (p.name == "phi" && v == 0) {
			return fmt.Errorf("%s: %s = %v, want it between 0 and 1: %w", name, p.name, v, forecast.ErrParameter)
		}
	}
	return nil
}

const (
	// leastPhi and phiRange bound an estimated damping: below 0.8 the trend is gone at once, above 0.98 it cannot be
	// told from none (Hyndman & Athanasopoulos 2021, §8.2).
	leastPhi = 0.8
	phiRange = 0.18
)

// variables are the parameters to search for, in the order of the coordinates.
type variables struct {
	base Parameters
	free []freeParameter
}

type freeParameter int

const (
	freeAlpha freeParameter = iota
	freeBeta
	freeGamma
	freePhi
)

// newVariables finds which parameters of a structure are free.
func newVariables(s structure) variables {
	v := variables{base: Parameters{Phi: 1}}
	add := func(p freeParameter, wanted bool, given, at *float64) {
		switch {
		case !wanted:
		case given != nil:
			*at = *given
		default:
			v.free = append(v.free, p)
		}
	}
	add(freeAlpha, true, s.fixed.alpha, &v.base.Alpha)
	add(freeBeta, s.trend != NoTrend, s.fixed.beta, &v.base.Beta)
	add(freeGamma, s.period > 0, s.fixed.gamma, &v.base.Gamma)
	add(freePhi, s.trend == DampedTrend, s.fixed.phi, &v.base.Phi)
	return v
}

// at is the parameters at a point, drawn into the unit cube, and how far outside it the point was.
func (v variables) at(x []float64) (p Parameters, outside float64) {
	p = v.base
	for i, name := range v.free {
		u := min(max(x[i], 0), 1)
		outside += max(x[i]-u, u-x[i])
		switch name {
		case freeAlpha:
			p.Alpha = u
		case freeBeta:
			p.Beta = u
		case freeGamma:
			p.Gamma = u
		case freePhi:
			p.Phi = leastPhi + phiRange*u
		}
	}
	return p, outside
}

// grid lists the points from which the search may start: slow and fast smoothing of every part.
func (v variables) grid() [][]float64 {
	points := [][]float64{{}}
	for _, name := range v.free {
		var values []float64
		switch name {
		case freeAlpha:
			values = []float64{0.1, 0.3, 0.6, 0.9}
		case freeBeta:
			values = []float64{0.01, 0.1, 0.5}
		case freeGamma:
			values = []float64{0.05, 0.3, 0.8}
		case freePhi:
			values = []float64{0.6}
		}
		var longer [][]float64
		for _, point := range points {
			for _, u := range values {
				longer = append(longer, append(slices.Clip(point), u))
			}
		}
		points = longer
	}
	return points
}
