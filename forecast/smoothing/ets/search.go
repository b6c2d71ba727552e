package ets

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// longestSearched is the longest season whose starting values are searched; of a longer one they are taken from the
// first seasons, as a likelihood of hundreds of variables overfits and takes long.
const longestSearched = 24

// search is the estimation of one model on one sample. Its variables are the angles of the parameters, then the
// distances of level, trend and season from their first guess, in units. Season and level share a direction that changes
// no mean; the gradient has no part in it, so the search never moves along it.
type search struct {
	model Model
	data  sample
	space *space
	trail trail
	// guesses are the first guesses of the starting states, and start is the one in use; seasonal means that the season
	// is searched.
	guesses  [2]state
	start    state
	seasonal bool
	unit     float64
	// p and origin are the point looked at last, end the states after its pass and sum that of its squared surprises.
	p           parameters
	origin, end state
	sum         float64
	slopes      slopes
	best        []float64
	value       float64
}

// search finds the best point of the model. Searches one after the other may share a trail.
func (m Model) search(data sample, trail trail) (*search, error) {
	if err := m.check(data); err != nil {
		return nil, err
	}
	s := m.newSearch(data, trail)
	if err := s.run(); err != nil {
		return nil, err
	}
	if p, _ := s.space.at(s.best); !s.space.check && !s.space.forecastable(p) {
		s.space.check = true
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (m Model) newSearch(data sample, trail trail) *search {
	s := &search{model: m, data: data, space: newSpace(m), trail: trail, unit: 1}
	s.guesses = m.firstStates(data.values)
	s.seasonal = m.Period > 0 && m.Period <= longestSearched
	s.start = s.guesses[0]
	n := len(s.start.season)
	seasons := make([]float64, 3*n)
	s.origin.season, s.end.season, s.slopes.season = seasons[:n], seasons[n:2*n], seasons[2*n:]
	return s
}

// variables is how many the search moves.
func (s *search) variables() int {
	n := s.space.angles + 1
	if s.model.Trend != NoTrend {
		n++
	}
	if s.seasonal {
		n += len(s.start.season)
	}
	return n
}

// trendShare is the step in which the trend is measured, as a share of that of the level: a trend works on every step.
const trendShare = 0.1

// place sets parameters and starting states to the point x. False means that it is not forecastable.
func (s *search) place(x []float64) bool {
	p, ok := s.space.at(x)
	s.p = p
	copy(s.origin.season, s.start.season)
	x = x[s.space.angles:]
	s.origin.level = s.start.level + s.unit*x[0]
	x = x[1:]
	s.origin.trend = s.start.trend
	if s.model.Trend != NoTrend {
		s.origin.trend += s.unit * trendShare * x[0]
		x = x[1:]
	}
	for i, v := range x {
		s.origin.season[i] += s.unit * v
	}
	return ok
}

// Value is the deviance at x.
func (s *search) Value(x []float64) float64 {
	if !s.place(x) {
		return math.Inf(1)
	}
	s.end.level, s.end.trend, s.end.at = s.origin.level, s.origin.trend, 0
	copy(s.end.season, s.origin.season)
	s.sum = s.trail.smooth(s.p, &s.end, s.data.values)
	return deviance(s.sum, s.data.count)
}

// Gradient is that of the deviance at x, where Value was asked last.
func (s *search) Gradient(x, dst []float64) {
	s.slopes.walk(s.trail, s.p, s.data.values, s.sum, s.data.count)
	s.space.chain(x, s.slopes.parameters, dst)
	dst = dst[s.space.angles:]
	dst[0] = s.unit * s.slopes.level
	dst = dst[1:]
	if s.model.Trend != NoTrend {
		dst[0] = s.unit * trendShare * s.slopes.trend
		dst = dst[1:]
	}
	for i := range dst {
		dst[i] = s.unit * s.slopes.season[i]
	}
}

const (
	// leastUnit is the unit of the states where the first guess leaves no surprise.
	leastUnit = 1e-9
	// glance is how many iterations the first descents take, which only show where to go on, and thorough the last one.
	glance, thorough = 12, 200
)

// run descends from the best point of every family and leaves the best end in best and value.
func (s *search) run() error {
	points := s.grid()
	if math.IsInf(points[0].value, 1) {
		return fmt.Errorf("no start is forecastable: %w", forecast.ErrNoConvergence)
	}
	// The unit of the states is the size of the surprises.
	s.start = s.guesses[points[0].guess]
	s.Value(points[0].x)
	s.unit = math.Max(math.Sqrt(s.sum/float64(s.data.count)), leastUnit)
	method := numeric.QuasiNewton{Gradient: 1e-4, Decrease: 1e-8, Iterations: glance}
	var at point
	for i, from := range apart(points) {
		s.start = s.guesses[from.guess]
		if found := method.MinimiseSmooth(s, from.x); i == 0 || found.Value < at.value {
			at = point{x: found.X, value: found.Value, guess: from.guess}
		}
	}
	s.start = s.guesses[at.guess]
	method.Iterations = thorough
	found := method.MinimiseSmooth(s, at.x)
	s.value, s.best = found.Value, found.X
	return nil
}
