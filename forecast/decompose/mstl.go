package decompose

import (
	"fmt"
	"math"
	"slices"

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
			return Decomposition{}, fmt.Errorf("MSTL%v: value %d is %g, beyond %g: %w",
				d.Periods, i, v, numeric.Limit, forecast.ErrNotFinite)
		}
	}
	periods := usable(d.Periods, len(values))
	if len(periods) == 0 {
		return Decomposition{}, fmt.Errorf("MSTL%v: %d steps hold no period twice: %w",
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
			return fmt.Errorf("MSTL%v: period %d, want 2 or more: %w", d.Periods, period, forecast.ErrParameter)
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
