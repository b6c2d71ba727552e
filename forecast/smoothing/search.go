package smoothing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// search is the estimation of one structure on one series.
type search struct {
	variables
	values []float64
	start  state
	// season is room for a pass.
	season []float64
	// count is the number of observations among the values.
	count int
}

func (s structure) begin(values []float64, first int) *search {
	var start state
	var from int
	switch {
	case s.period > 0:
		start, from = s.startSeason(values, first)
	case s.trend != NoTrend:
		start, from = startTrend(values, first)
	default:
		start, from = startLevel(values, first)
	}
	if s.trend == NoTrend {
		start.trend = 0
	}
	out := &search{
		variables: newVariables(s), values: values[from:], start: start, season: make([]float64, len(start.season)),
	}
	for _, v := range out.values {
		if !math.IsNaN(v) {
			out.count++
		}
	}
	return out
}

// begin sets a state to the start.
func (s *search) begin() state {
	out := s.start
	out.season = s.season
	copy(out.season, s.start.season)
	return out
}

// pass smooths the values and returns the sum of the squared surprises.
func (s *search) pass(p Parameters) float64 {
	end := s.begin()
	return end.run(p.gains(), s.values)
}

// objective is the sum of the squared surprises, rising outside the unit cube so that the search returns to it.
func (s *search) objective(x []float64) float64 {
	p, outside := s.at(x)
	return s.pass(p) * (1 + outside)
}

const (
	// starts is how many of the grid's points are searched from, and long the number of values from which on two are.
	starts = 4
	long   = 5000
	// glance is how many evaluations the first descents take, which only show where to go on, and thorough those that
	// go on, from the best two.
	glance, thorough = 50, 400
)

// minimise is the parameters with the least objective: the best of a few descents, each from a good point of the grid.
func (s *search) minimise() Parameters {
	if len(s.free) == 0 {
		return s.base
	}
	simplex := numeric.Simplex{Edge: 0.15, Tolerance: 1e-9, Evaluations: glance}
	last, count := thorough, starts
	if len(s.values) > long {
		simplex.Tolerance, last, count = 1e-6, 2*glance, 2
	}
	points := s.grid()
	ends := make([]numeric.Result, len(points))
	for i, x := range points {
		ends[i] = numeric.Result{X: x, Value: s.objective(x)}
	}
	better := func(a, b numeric.Result) int { return cmp.Compare(a.Value, b.Value) }
	slices.SortStableFunc(ends, better)
	ends = ends[:min(count, len(ends))]
	descend := func() {
		for i, from := range ends {
			ends[i] = simplex.Minimise(s.objective, from.X)
		}
		slices.SortStableFunc(ends, better)
	}
	descend()
	ends = ends[:min(2, len(ends))]
	simplex.Edge, simplex.Evaluations = 0.05, last
	descend()
	p, _ := s.at(ends[0].X)
	return p
}

// startLevel is the state at the first observation, and the step after it.
func startLevel(values []float64, first int) (state, int) {
	return state{level: values[first], season: []float64{0}}, first + 1
}

// startTrend is the state at the second observation, with the trend between the first two, and the step after it.
func startTrend(values []float64, first int) (state, int) {
	second := first + 1
	for math.IsNaN(values[second]) {
		second++
	}
	trend := (values[second] - values[first]) / float64(second-first)
	return state{level: values[second], trend: trend, season: []float64{0}}, second + 1
}

// startSeasons is how many whole seasons the starting states are averaged from.
const startSeasons = 2

// startSeason is the state from the classical decomposition of the first seasons, and the step after the first season.
// The level is the line's value before its first point, as R has it; it catches up within the second season.
func (s structure) startSeason(values []float64, first int) (state, int) {
	return additive(values[first:first+s.period*startSeasons], s.period), first + s.period
}

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
			return fmt.Errorf("%s: %s = %v, expected a value between 0 and 1: %w", name, p.name, v,
				forecast.ErrParameter)
		}
	}
	return nil
}

const (
	// minPhi and phiRange bound an estimated damping: below 0.8 the trend is gone at once, above 0.98 it cannot be
	// told from none (Hyndman & Athanasopoulos 2021, §8.2).
	minPhi   = 0.8
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
			p.Phi = minPhi + phiRange*u
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
