package ensemble

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/transform"
)

// Auto forecasts any series by the median of the three models that forecast its end best. The zero Auto is usable.
type Auto struct {
	// Seasons are the lengths of the seasons, in steps, ascending: {24, 168} for the days and weeks of an hourly series.
	// They are not detected. A season takes part once the series before the hold-out contains it twice.
	Seasons []int
	// Horizon is how many steps ahead the models are ranked and their errors measured; 0 means 12. Longer forecasts are
	// possible. Their quantiles use the errors at the last of these steps.
	Horizon int
}

const (
	defaultHorizon, maxHorizon = 12, 1440
	// maxModels is how many models are combined.
	maxModels = 3
	// maxSteps and maxSeasons bound the history that is used: this many steps, or this many of the longest season or the
	// horizon if that is more.
	maxSteps, maxSeasons = 5000, 4
)

// Name is "Auto" with the seasons: "Auto(24, 168)".
func (m Auto) Name() string {
	if len(m.Seasons) == 0 {
		return "Auto"
	}
	return "Auto(" + strings.ReplaceAll(strings.Trim(fmt.Sprint(m.Seasons), "[]"), " ", ", ") + ")"
}

// Fit needs one observation. It does not depend on a clock or on random numbers: equal series give equal bits. Errors:
// forecast.ErrParameter, forecast.ErrTooShort if there is no observation, forecast.ErrNotFinite.
func (m Auto) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Horizon == 0 {
		return Auto{Seasons: m.Seasons, Horizon: defaultHorizon}.Fit(s)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	longest := slices.Max(append([]int{m.Horizon}, m.Seasons...))
	s = s.Slice(max(0, s.Len()-max(maxSteps, maxSeasons*min(longest, s.Len()))), s.Len())
	s = s.Slice(numeric.First(s.Values), s.Len()) // A series begins with its first observation.
	if err := numeric.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	f := &fitted{seen: newRange(s, longest), next: s.End(), step: s.Step}
	known := s // A gap at the end says nothing of the models.
	for math.IsNaN(known.Values[known.Len()-1]) {
		known = known.Slice(0, known.Len()-1)
	}
	if held := m.holdOut(known.Len()); held > 0 {
		f.members = best(rank(m.candidates(known.Len()-held), known, held, m.Horizon), s)
	}
	if len(f.members) == 0 {
		f.members = best([]*member{{model: naive.Last{}}}, s) // None if there is a single observation.
	}
	return f, nil
}

func (m Auto) check() error {
	if m.Horizon < 1 || m.Horizon > maxHorizon {
		return fmt.Errorf("horizon %d, expected 1 to %d: %w", m.Horizon, maxHorizon, forecast.ErrParameter)
	}
	for i, season := range m.Seasons {
		if season < 2 || i > 0 && season <= m.Seasons[i-1] {
			return fmt.Errorf("seasons %v, expected ascending seasons of 2 or more: %w", m.Seasons,
				forecast.ErrParameter)
		}
	}
	return nil
}

const (
	// minSteps is the shortest series on which models are compared. A shorter one is forecast by its last value.
	minSteps = 12
	// minHeld and maxHeld bound the hold-out, and heldHorizons is how many horizons it should contain.
	minHeld, maxHeld, heldHorizons = 240, 1440, 10
)

// holdOut is how many of n steps are held out: a season or more, at most a third, and down to a quarter if a season would
// otherwise be left out.
func (m Auto) holdOut(n int) int {
	if n < minSteps {
		return 0
	}
	held := max(heldHorizons*m.Horizon, minHeld)
	for _, season := range m.Seasons {
		if season <= n/3 {
			held = max(held, season)
		}
	}
	held = min(n/3, min(held, maxHeld)+m.Horizon)
	for _, season := range m.Seasons {
		if season < n/2 && n-2*season-1 >= n/4 {
			held = min(held, n-2*season-1)
		}
	}
	return held
}

// candidates are the models for n steps before the hold-out, the simplest first: it wins a tie.
func (m Auto) candidates(n int) []forecast.Model {
	seasons := slices.DeleteFunc(slices.Clone(m.Seasons), func(season int) bool { return season > (n-1)/2 })
	if len(seasons) == 0 {
		return []forecast.Model{
			naive.Last{},
			smoothing.Holt{Damped: true},
			autoregress.Ridge{Lags: []int{1, 2, 3, 4, 5, 6, 8, 10, 15}},
			arima.Auto{MaxD: 1, KeepMean: true},
			transform.Log{Model: arima.Auto{MaxD: 1, KeepMean: true}},
		}
	}
	lags := autoregress.SeasonalLags(seasons...)
	ridge := autoregress.Ridge{
		Lags: lags, Profile: seasons[0],
		// The weights follow changes of the series, but rest on at least ten observations each.
		HalfLife: float64(max(seasons[len(seasons)-1], 10*len(lags))),
	}
	return []forecast.Model{
		naive.Last{},
		smoothing.HoltWinters{Period: seasons[0], Trend: smoothing.DampedTrend},
		ridge,
		transform.Log{Model: ridge},
		transform.Log{Model: decompose.Seasonal{Periods: seasons, Model: arima.Auto{KeepMean: true}}},
	}
}

// rank scores the candidates on the last steps of the series, the best first. Those that cannot be fitted are left out.
func rank(candidates []forecast.Model, s forecast.Series, held, horizon int) (out []*member) {
	level := numeric.Magnitude(s.Values)
	for _, model := range candidates {
		m := &member{model: model, level: level}
		if m.score(s, s.Len()-held, horizon) {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b *member) int { return cmp.Compare(a.mae, b.mae) })
	return out
}

// best fits the first three of a ranking that can be fitted to the whole series.
func best(ranking []*member, s forecast.Series) (out []*member) {
	for _, m := range ranking {
		fitted, err := m.model.Fit(s)
		if m.fitted = fitted; err == nil {
			out = append(out, m)
		}
		if len(out) == maxModels {
			return out
		}
	}
	return out[:min(len(out), 1)] // There is no median of two.
}
