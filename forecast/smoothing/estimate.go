package smoothing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/optimise"
	"github.com/forewarm/forewarm/forecast/internal/units"
	"github.com/forewarm/forewarm/forecast/smoothing/internal/response"
)

// structure is what the three models have in common: which parts there are and which parameters are given.
type structure struct {
	name  string
	trend Trend
	// period is 0 where there is no season; seasons is how many of them the start takes.
	period, seasons int
	// multiplies says that the season is a factor of the level.
	multiplies bool
	fixed      fixed
	criterion  Criterion
}

// least is how many steps after the first observation the structure needs, itself included.
func (s structure) least() int {
	switch {
	case s.period > 0:
		return s.period*s.seasons + 1
	case s.trend != NoTrend:
		return 3
	default:
		return 2
	}
}

// observations is how many of them must be there.
func (s structure) observations() int {
	if s.trend != NoTrend && s.period == 0 {
		return 3
	}
	return 2
}

// fit estimates the structure on the series.
func (s structure) fit(series forecast.Series) (*Fitted, error) {
	if err := s.fixed.check(s.name); err != nil {
		return nil, err
	}
	if err := s.criterion.check(s.name); err != nil {
		return nil, err
	}
	if err := units.Check(series, s.observations()); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	first := units.First(series.Values)
	if n := series.Len() - first; n < s.least() {
		return nil, fmt.Errorf("%s: %d steps from the first observation on, want %d: %w",
			s.name, n, s.least(), forecast.ErrTooShort)
	}
	lowest := slices.MinFunc(series.Values[first:], lower)
	if s.multiplies && !(lowest > 0) {
		return nil, fmt.Errorf("%s: a value is %g, want all above 0: %w", s.name, lowest, forecast.ErrNotPositive)
	}
	scale := units.Scale(series.Values)
	values := make([]float64, series.Len())
	for i, v := range series.Values {
		values[i] = v / scale
	}
	search := s.begin(values, first)
	if search.count == 0 {
		return nil, fmt.Errorf("%s: no observation after those with which it starts: %w", s.name, forecast.ErrTooShort)
	}
	fitted, err := s.finish(search, scale, lowest)
	if err != nil {
		return nil, err
	}
	fitted.next, fitted.step = series.End(), series.Step
	return fitted, nil
}

// lower compares values, gaps last.
func lower(a, b float64) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return -cmp.Compare(a, b)
	}
	return cmp.Compare(a, b)
}

// search is the estimation of one structure on one series.
type search struct {
	variables
	values []float64
	start  state
	// season is room for a pass.
	season []float64
	// count is the number of observations among the values.
	count      int
	multiplies bool
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
		multiplies: s.multiplies,
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
	if s.multiplies {
		return end.runTimes(p.gains(), s.values)
	}
	return end.run(p.gains(), s.values)
}

// ahead is the loss over the criterion's steps.
func (s *search) ahead(p Parameters) float64 {
	if s.multiplies && math.IsInf(s.pass(p), 1) {
		return math.Inf(1)
	}
	g, now, o := p.gains(), s.begin(), s.outlook
	o.clear()
	for i, y := range s.values {
		if i%o.stride == 0 {
			now.points(g, s.multiplies, o.points)
			o.compare(s.values[i:])
		}
		if s.multiplies {
			now.runTimes(g, s.values[i:i+1])
			continue
		}
		now.observe(g, y)
	}
	return o.loss()
}

// objective is what the criterion says, rising outside the unit cube so that the search comes back.
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
	simplex := optimise.Simplex{Edge: 0.15, Tolerance: 1e-9, Evaluations: glance}
	last, count := thorough, starts
	if len(s.values) > long {
		simplex.Tolerance, last, count = 1e-6, 2*glance, 2
	}
	points := s.grid()
	ends := make([]optimise.Result, len(points))
	for i, x := range points {
		ends[i] = optimise.Result{X: x, Value: s.objective(x)}
	}
	better := func(a, b optimise.Result) int { return cmp.Compare(a.Value, b.Value) }
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

// finish makes the fitted model of the best parameters, in the units of the series. lowest is the least observation.
func (s structure) finish(search *search, scale, lowest float64) (*Fitted, error) {
	p := search.minimise()
	sum := search.pass(p)
	if math.IsInf(sum, 1) {
		return nil, fmt.Errorf(
			"%s: no parameters keep level and season positive: %w",
			s.name,
			forecast.ErrNoConvergence,
		)
	}
	freedom := search.count - len(search.free)
	if freedom <= 0 {
		freedom = search.count
	}
	f := &Fitted{
		parameters: p, gains: p.gains(), state: search.start, period: s.period,
		multiplies: s.multiplies, floor: math.Max(floorShare*lowest/scale, math.SmallestNonzeroFloat64),
		sse: sum * scale * scale, deviation: scale * math.Sqrt(sum/float64(freedom)),
	}
	f.gap = response.Of(f.gains, f.period)
	if search.outlook != nil && !math.IsInf(search.ahead(p), 1) {
		responses := f.gap
		f.deviation = scale * search.outlook.calibrated(f.deviation/scale, responses.Next)
	}
	for _, y := range search.values {
		f.observe(y)
	}
	f.rescale(scale)
	return f, nil
}

// rescale multiplies the states with the scale of the series.
func (f *Fitted) rescale(scale float64) {
	// Above 0 even where the product is below the smallest number.
	f.floor = math.Max(f.floor*scale, math.SmallestNonzeroFloat64)
	f.state.level *= scale
	f.state.trend *= scale
	if f.multiplies {
		return
	}
	for i := range f.state.season {
		f.state.season[i] *= scale
	}
}
