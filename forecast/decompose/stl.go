package decompose

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// STL splits a series into a trend, one season and a remainder by loess (R. B. Cleveland, W. S. Cleveland, McRae &
// Terpenning 1990).
type STL struct {
	// Period is the length of the season in steps, 2 or more.
	Period int
	// SeasonalWindow is over how many seasons each slot of the season is smoothed, odd and 3 or more: the wider, the more
	// slowly the season changes. 0 makes it the same in every season.
	SeasonalWindow int
	// TrendWindow is over how many steps the trend is smoothed, odd and 3 or more. 0 takes the smallest for which trend
	// and season do not compete: about one and a half seasons.
	TrendWindow int
	// Robust keeps outliers out of trend and season. It takes some 20 times as long.
	Robust bool
}

// The numbers of iterations that Cleveland et al. (1990) advise.
const (
	innerPlain  = 2
	innerRobust = 1
	outerRobust = 15
)

// Decompose splits the values, which are not changed. Gaps (NaN) are filled as Interpolate does, and are gaps in the
// remainder again. It wants two whole seasons.
func (d STL) Decompose(values []float64) (Decomposition, error) {
	if err := d.validate(); err != nil {
		return Decomposition{}, err
	}
	if err := check(values, 2*d.Period); err != nil {
		return Decomposition{}, fmt.Errorf("STL(m=%d): %w", d.Period, err)
	}
	filled, err := Interpolate(values, d.Period)
	if err != nil {
		return Decomposition{}, fmt.Errorf("STL(m=%d): %w", d.Period, err)
	}
	l := d.run(filled)
	out := Decomposition{
		Trend:     l.trend,
		Seasons:   []Season{{Period: d.Period, Values: l.season}},
		Remainder: make([]float64, len(values)),
	}
	for i, v := range values {
		out.Remainder[i] = v - l.trend[i] - l.season[i]
	}
	return out, nil
}

func (d STL) validate() error {
	switch {
	case d.Period < 2:
		return fmt.Errorf("STL: period %d, want 2 or more: %w", d.Period, forecast.ErrParameter)
	case d.SeasonalWindow != 0 && (d.SeasonalWindow < 3 || d.SeasonalWindow%2 == 0):
		return fmt.Errorf("STL: seasonal window %d, want 0 or odd and 3 or more: %w",
			d.SeasonalWindow, forecast.ErrParameter)
	case d.TrendWindow != 0 && (d.TrendWindow < 3 || d.TrendWindow%2 == 0):
		return fmt.Errorf("STL: trend window %d, want 0 or odd and 3 or more: %w", d.TrendWindow, forecast.ErrParameter)
	}
	return nil
}

// check reports a value that is no observation (beyond 1e150), and a series shorter than want steps.
func check(values []float64, want int) error {
	for i, v := range values {
		if math.Abs(v) > units.Limit {
			return fmt.Errorf("value %d is %g, beyond %g: %w", i, v, units.Limit, forecast.ErrNotFinite)
		}
	}
	if len(values) < want {
		return fmt.Errorf("%d steps, want %d: %w", len(values), want, forecast.ErrTooShort)
	}
	return nil
}

// run is the decomposition of a series without gaps.
func (d STL) run(y []float64) *loop {
	l := newLoop(y, d.Period, d.windows(len(y)))
	if d.Robust {
		l.run(innerRobust, outerRobust)
	} else {
		l.run(innerPlain, 0)
	}
	if d.SeasonalWindow == 0 {
		l.repeat()
	}
	return l
}

// windows are the lengths of the three smoothers.
type windows struct{ season, trend, low int }

func (d STL) windows(n int) windows {
	w := windows{season: d.SeasonalWindow, trend: d.TrendWindow, low: odd(float64(d.Period))}
	if w.season == 0 {
		w.season = 10*n + 1 // so wide that all weights are alike
	}
	if w.trend == 0 {
		// Cleveland et al. (1990), section 3.6: the least window that leaves the season to the season.
		w.trend = odd(1.5 * float64(d.Period) / (1 - 1.5/float64(w.season)))
	}
	return w
}

// odd is the least odd number from x on.
func odd(x float64) int {
	n := int(math.Ceil(x))
	return n + 1 - n%2
}
