package smoothing

import (
	"cmp"
	"math"
	"slices"

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
	// outlook is nil where the next step alone counts.
	outlook *outlook
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
	if !s.criterion.plain() {
		out.outlook = newOutlook(s.criterion, len(out.values))
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

// ahead is the loss over the criterion's steps.
func (s *search) ahead(p Parameters) float64 {
	g, now, o := p.gains(), s.begin(), s.outlook
	o.clear()
	for i, y := range s.values {
		if i%o.stride == 0 {
			now.points(g, o.points)
			o.compare(s.values[i:])
		}
		now.observe(g, y)
	}
	return o.loss()
}

// objective is the criterion, rising outside the unit cube so that the search returns to it.
func (s *search) objective(x []float64) float64 {
	p, outside := s.at(x)
	if s.outlook != nil {
		return s.ahead(p) * (1 + outside)
	}
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
