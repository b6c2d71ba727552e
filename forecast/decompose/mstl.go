package decompose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// MSTL splits a series into a trend, several seasons and a remainder: STL for each season by turns, on the series
// without the others (Bandara, Hyndman & Bergmeir 2021).
type MSTL struct {
	// Periods are the lengths of the seasons in steps, each 2 or more: 24 and 168 for days and weeks of hours. Order does
	// not matter, what is there twice counts once.
	Periods []int
}

const (
	// shortestWindow is over how many seasons each slot of the shortest season is smoothed, which Bandara et al. found to
	// serve well; the next longer one takes windowGrowth more, and so on.
	shortestWindow = 11
	windowGrowth   = 4
	// turns is how often each of several seasons is estimated.
	turns = 2
)

// Decompose splits the values, which are not changed. A period of which the series does not hold two is left out, and
// is not in the result; with none left it is ErrTooShort. Gaps (NaN) are filled as Interpolate does, and are gaps in
// the remainder again.
func (d MSTL) Decompose(values []float64) (Decomposition, error) {
	if err := d.validate(); err != nil {
		return Decomposition{}, err
	}
	for i, v := range values {
		if math.Abs(v) > numeric.Limit {
			return Decomposition{}, fmt.Errorf("MSTL%v: value %d is %g, beyond the limit of %g: %w",
				d.Periods, i, v, numeric.Limit, forecast.ErrNotFinite)
		}
	}
	periods := usable(d.Periods, len(values))
	if len(periods) == 0 {
		return Decomposition{}, fmt.Errorf("MSTL%v: %d steps are less than two periods: %w",
			d.Periods, len(values), forecast.ErrTooShort)
	}
	filled, err := Interpolate(values, periods...)
	if err != nil {
		return Decomposition{}, fmt.Errorf("MSTL%v: %w", d.Periods, err)
	}
	out := split(filled, periods, false)
	for i, v := range values {
		if v != v {
			out.Remainder[i] = v
		}
	}
	return out, nil
}

func (d MSTL) validate() error {
	for _, period := range d.Periods {
		if period < 2 {
			return fmt.Errorf("MSTL%v: period %d, expected 2 or more: %w", d.Periods, period, forecast.ErrParameter)
		}
	}
	if len(d.Periods) == 0 {
		return fmt.Errorf("MSTL: no period: %w", forecast.ErrParameter)
	}
	return nil
}

// usable are the periods that n steps hold twice, in order.
func usable(periods []int, n int) []int {
	out := slices.Clone(periods)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(m int) bool { return m < 2 || 2*m > n })
}

// split splits a series without gaps, robustly or not.
func split(y []float64, periods []int, robust bool) Decomposition {
	out := Decomposition{Seasons: make([]Season, len(periods)), Remainder: slices.Clone(y)}
	rest, rounds := out.Remainder, turns
	if len(periods) == 1 {
		rounds = 1
	}
	for round := range rounds {
		for i, period := range periods {
			season := &out.Seasons[i]
			if round > 0 {
				add(rest, season.Values)
			}
			l := stl{period: period, window: shortestWindow + windowGrowth*i, robust: robust}.run(rest)
			subtract(rest, l.season)
			*season, out.Trend = Season{Period: period, Values: l.season}, l.trend
		}
	}
	subtract(rest, out.Trend)
	return out
}

func add(dst, values []float64) {
	for i, v := range values {
		dst[i] += v
	}
}

func subtract(dst, values []float64) {
	for i, v := range values {
		dst[i] -= v
	}
}

// Decomposition is a series in parts: at every step the trend, the seasons and the remainder add up to the value.
type Decomposition struct {
	// Trend is the level as it moves, slower than any of the seasons.
	Trend []float64
	// Seasons are the repeating parts, the shortest period first.
	Seasons []Season
	// Remainder is what is left, NaN where the series has a gap.
	Remainder []float64
}

// Season is the part of a series that repeats with a period, about 0. It may change slowly from one season to the next.
type Season struct {
	// Period is its length in steps.
	Period int
	// Values are its effect at every step of the series.
	Values []float64
}

// Adjusted is the series without its seasons: trend and remainder. It has the gaps of the series.
func (d Decomposition) Adjusted() []float64 {
	out := make([]float64, len(d.Trend))
	for i, trend := range d.Trend {
		out[i] = trend + d.Remainder[i]
	}
	return out
}

// SeasonalStrength is how much of what moves the series, apart from the trend and the other seasons, is season i of Seasons:
// 1 − Var(R)/Var(S+R), from 0 to 1 (Wang, Smith & Hyndman 2006), and 0 where nothing moves. Gaps
// are left out.
func (d Decomposition) SeasonalStrength(i int) float64 {
	part, rest := d.Seasons[i].Values, d.Remainder
	scale := math.Max(numeric.Scale(part), numeric.Scale(rest))
	sums := make([]float64, 0, len(part))
	alone := make([]float64, 0, len(rest))
	for i, r := range rest {
		if !math.IsNaN(r) {
			sums, alone = append(sums, part[i]/scale+r/scale), append(alone, r/scale)
		}
	}
	if len(sums) < 2 {
		return 0
	}
	whole := stat.Variance(sums, nil)
	if whole == 0 {
		return 0
	}
	return min(max(1-stat.Variance(alone, nil)/whole, 0), 1)
}

// Seasonal gives seasons to a model that has none: MSTL takes them off the series, the model forecasts what is left,
// and each season goes on as it last was (Hyndman & Athanasopoulos 2021, section 13.3; R's stlf).
type Seasonal struct {
	// Periods are the lengths of the seasons in steps, each 2 or more. A period that the series does not hold twice is
	// left out.
	Periods []int
	// Model forecasts the seasonally adjusted series, gaps included.
	Model forecast.Model
}

// Name is the decomposition with its periods, and the model: "MSTL[24 168] + SES".
func (m Seasonal) Name() string {
	name := fmt.Sprintf("MSTL%v", m.Periods)
	if m.Model == nil {
		return name + " without a model"
	}
	return name + " + " + m.Model.Name()
}

// Fit decomposes the series and fits the model to the seasonally adjusted one. It wants two whole seasons of the
// shortest period and what the model wants.
func (m Seasonal) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Model == nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), forecast.ErrParameter)
	}
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	parts, err := MSTL{Periods: m.Periods}.Decompose(s.Values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	rest := s
	rest.Values = parts.Adjusted()
	inner, err := m.Model.Fit(rest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	f := &seasonal{inner: inner}
	for _, season := range parts.Seasons {
		last := season.Values[len(season.Values)-season.Period:]
		f.cycles = append(f.cycles, cycle{effects: slices.Clone(last)})
	}
	return f, nil
}

// seasonal is a model of the seasonally adjusted series at its origin, and the seasons that go on.
type seasonal struct {
	inner  forecast.Fitted
	cycles []cycle
}

// Update moves the origin one step on: the model takes what is left of the observation without the seasons, which stay as
// they were fitted. A value that is not finite, or beyond 1e150, counts as missing.
func (f *seasonal) Update(y float64) {
	for i := range f.cycles {
		y -= f.cycles[i].next()
		f.cycles[i].advance()
	}
	f.inner.Update(y)
}

// PointsTo writes the model's points with the seasons added.
func (f *seasonal) PointsTo(dst []float64) {
	f.inner.PointsTo(dst)
	for i := range f.cycles {
		f.cycles[i].addTo(dst)
	}
}

// Forecast has the model's standard errors: the seasons are taken for known.
func (f *seasonal) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	for i := range f.cycles {
		f.cycles[i].addTo(out.Point)
	}
	if out.Marginals != nil {
		by := make([]float64, len(out.Point))
		for i := range f.cycles {
			f.cycles[i].addTo(by)
		}
		out.Marginals = shifted{out.Marginals, by}
	}
	return out
}
