package ets

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/internal/optimise"
)

// longestSearched is the longest season whose starting values are searched; of a longer one they are taken from the
// first seasons, as a likelihood of hundreds of variables overfits and takes long.
const longestSearched = 24

// room is what the passes over a series write to. The candidates of a choice share it.
type room struct {
	trail trail
	pull  []float64
}

func newRoom(n int) *room { return &room{trail: newTrail(n), pull: make([]float64, n)} }

// search is the estimation of one model on one sample. Its variables are the angles of the free parameters, then, where
// they are searched, the distances of level, trend and season from their first guess, in units. Season and level share
// a direction that changes no mean; the gradient has no part in it, so the search never moves along it.
type search struct {
	*room
	spec     Spec
	space    *space
	values   []float64
	deviance deviance
	// guesses are the first guesses, and start is the one in use; fixed means that it is all there is; seasonal, that
	// the season is searched.
	guesses         [2]state
	start           state
	fixed, seasonal bool
	unit            float64
	// p and origin are the point looked at last, end the states after its pass.
	p           Parameters
	origin, end state
	slopes      slopes
	best        []float64
	value       float64
}

// search finds the best point of the model.
func (m Model) search(data sample, rooms *room) (*search, error) {
	s, err := m.newSearch(data, rooms)
	if err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	if p, _ := s.space.at(s.best); s.space.angles > 0 && !s.space.check && !s.space.forecastable(p) {
		s.space.check = true
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (m Model) newSearch(data sample, rooms *room) (*search, error) {
	if err := m.check(data); err != nil {
		return nil, err
	}
	where, err := newSpace(m)
	if err != nil {
		return nil, err
	}
	s := &search{
		room: rooms, spec: m.Spec, space: where, values: data.values,
		deviance: deviance{values: data.values, count: data.count}, unit: 1,
	}
	if m.Start == nil {
		s.guesses = firstStates(data.values, m.Spec, m.Period)
		s.seasonal = m.Season != NoSeason && m.Period <= longestSearched
	} else {
		given := m.Start.scaled(m.Spec, data.scale)
		s.guesses, s.fixed = [2]state{given, given}, true
	}
	s.start = s.guesses[0]
	n := len(s.start.season)
	seasons := make([]float64, 3*n)
	s.origin.season, s.end.season, s.slopes.season = seasons[:n], seasons[n:2*n], seasons[2*n:]
	return s, nil
}

// scaled is the states as the passes take them.
func (s States) scaled(spec Spec, scale float64) state {
	out := state{level: s.Level / scale, trend: s.Trend / scale, season: []float64{0}}
	switch spec.Season {
	case NoSeason:
	case AdditiveSeason:
		out.season = make([]float64, len(s.Season))
		for i, v := range s.Season {
			out.season[i] = v / scale
		}
	case MultiplicativeSeason:
		out.season = slices.Clone(s.Season)
	}
	return out
}

// variables is how many the search moves.
func (s *search) variables() int {
	n := s.space.angles
	if s.fixed {
		return n
	}
	n++
	if s.spec.Trend != NoTrend {
		n++
	}
	if s.seasonal {
		n += len(s.start.season)
	}
	return n
}

// trendShare is the step in which the trend is measured, as a share of that of the level: a trend works on every step.
const trendShare = 0.1

// units are the steps of level, trend and season.
func (s *search) units() (level, trend, season float64) {
	level, trend, season = s.unit, s.unit*trendShare, s.unit
	if s.spec.Season == MultiplicativeSeason {
		season /= s.start.level
	}
	return level, trend, season
}

// place sets parameters and starting states to the point x. False means that it is not forecastable.
func (s *search) place(x []float64) bool {
	p, ok := s.space.at(x)
	s.p = p
	s.origin.level, s.origin.trend = s.start.level, s.start.trend
	copy(s.origin.season, s.start.season)
	if s.fixed {
		return ok
	}
	level, trend, season := s.units()
	x = x[s.space.angles:]
	s.origin.level += level * x[0]
	x = x[1:]
	if s.spec.Trend != NoTrend {
		s.origin.trend += trend * x[0]
		x = x[1:]
	}
	for i, v := range x {
		s.origin.season[i] += season * v
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
	if s.spec.Season == MultiplicativeSeason {
		if !s.trail.multiplicative(s.p, &s.end, s.values) {
			return math.Inf(1)
		}
	} else {
		s.trail.additive(s.p, &s.end, s.values)
	}
	if s.spec.Error == MultiplicativeError {
		return s.deviance.multiplicative(s.trail.surprise)
	}
	return s.deviance.additive(s.trail.surprise)
}

// Gradient is that of the deviance at x, where Value was asked last.
func (s *search) Gradient(x, dst []float64) {
	if s.spec.Error == MultiplicativeError {
		s.deviance.multiplicativePull(s.trail.surprise, s.pull)
	} else {
		s.deviance.additivePull(s.trail.surprise, s.pull)
	}
	if s.spec.Season == MultiplicativeSeason {
		s.slopes.multiplicative(s.trail, s.p, s.values, s.pull)
	} else {
		s.slopes.additive(s.trail, s.p, s.values, s.pull)
	}
	s.space.chain(x, s.slopes.Parameters, dst)
	if s.fixed {
		return
	}
	level, trend, season := s.units()
	dst = dst[s.space.angles:]
	dst[0] = level * s.slopes.level
	dst = dst[1:]
	if s.spec.Trend != NoTrend {
		dst[0] = trend * s.slopes.trend
		dst = dst[1:]
	}
	for i := range dst {
		dst[i] = season * s.slopes.season[i]
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
	if s.variables() == 0 {
		s.value = s.Value(nil)
		return nil
	}
	points := s.grid()
	s.value = math.Inf(1)
	if math.IsInf(points[0].value, 1) {
		return errNoStart
	}
	s.measure(points[0])
	method := optimise.QuasiNewton{Gradient: 1e-4, Decrease: 1e-8, Iterations: glance}
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

// measure sets the unit of the states to the size of the surprises at a point.
func (s *search) measure(p point) {
	s.start = s.guesses[p.guess]
	s.Value(p.x)
	s.unit = math.Sqrt(s.deviance.sum / float64(s.deviance.count))
	if s.spec.Error == MultiplicativeError {
		s.unit *= s.start.level
	}
	s.unit = math.Max(s.unit, leastUnit)
}
