package smoothing

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// structure is what the three models have in common: which parts there are and which parameters are given.
type structure struct {
	name  string
	trend Trend
	// period is 0 where there is no season.
	period int
	fixed  fixed
}

// least is how many steps after the first observation the structure needs, itself included.
func (s structure) least() int {
	switch {
	case s.period > 0:
		return s.period*startSeasons + 1
	case s.trend != NoTrend:
		return 3
	default:
		return 2
	}
}

// observations is how many of them must exist.
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
	if err := numeric.Check(series, s.observations()); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	first := numeric.First(series.Values)
	if n := series.Len() - first; n < s.least() {
		return nil, fmt.Errorf("%s: %d steps from the first observation on, expected at least %d: %w",
			s.name, n, s.least(), forecast.ErrTooShort)
	}
	scale := numeric.Scale(series.Values)
	values := make([]float64, series.Len())
	for i, v := range series.Values {
		values[i] = v / scale
	}
	search := s.begin(values, first)
	if search.count == 0 {
		return nil, fmt.Errorf("%s: no observation after the ones that the initial state needs: %w", s.name,
			forecast.ErrTooShort)
	}
	fitted, err := s.finish(search, scale)
	if err != nil {
		return nil, err
	}
	fitted.next, fitted.step = series.End(), series.Step
	return fitted, nil
}

// finish makes the fitted model of the best parameters, in the units of the series.
func (s structure) finish(search *search, scale float64) (*Fitted, error) {
	p := search.minimise()
	sum := search.pass(p)
	if math.IsInf(sum, 1) {
		return nil, fmt.Errorf("%s: its errors grow without bound: %w", s.name, forecast.ErrNoConvergence)
	}
	freedom := search.count - len(search.free)
	if freedom <= 0 {
		freedom = search.count
	}
	f := &Fitted{
		parameters: p, gains: p.gains(), state: search.start, period: s.period,
		sse: sum * scale * scale, deviation: scale * math.Sqrt(sum/float64(freedom)),
	}
	f.gap = newResponse(f.gains, f.period)
	for _, y := range search.values {
		f.observe(y)
	}
	f.rescale(scale)
	return f, nil
}

// rescale multiplies the states with the scale of the series.
func (f *Fitted) rescale(scale float64) {
	f.state.level *= scale
	f.state.trend *= scale
	for i := range f.state.season {
		f.state.season[i] *= scale
	}
}
