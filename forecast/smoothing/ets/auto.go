package ets

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Auto chooses a model of the family by AICc.
type Auto struct {
	// Period is the length of the season in steps; 0 and 1 mean none.
	Period int
}

// Name is "auto-ETS" with the period: "auto-ETS[24]".
func (a Auto) Name() string {
	if a.Period < 2 {
		return "auto-ETS"
	}
	return fmt.Sprintf("auto-ETS[%d]", a.Period)
}

// Fit fits every model and keeps the one of least AICc; of equals, the simplest. What it returns is a *Fitted. A model
// that does not suit the series is passed over: a season where there are fewer than two of them or fewer observations
// than parameters. From two observations on there is a forecast: where no model suits, that of a level which takes half
// of every surprise.
func (a Auto) Fit(s forecast.Series) (forecast.Fitted, error) {
	const leastObservations = 2
	data, err := scaled(s)
	switch {
	case err != nil:
	case a.Period < 0:
		err = fmt.Errorf("period %d, want 0 or more: %w", a.Period, forecast.ErrParameter)
	case data.count < leastObservations:
		err = fmt.Errorf("%d observations, want %d: %w", data.count, leastObservations, forecast.ErrTooShort)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name(), err)
	}
	if best := a.best(data); best != nil {
		return best.finish(), nil
	}
	level := state{level: data.values[0], season: []float64{0}}
	return Model{}.fixed(parameters{Alpha: 0.5, Phi: 1}, level, data), nil
}

// best is the search of least AICc, nil where none has a finite one, or the series is constant.
func (a Auto) best(data sample) *search {
	moves := func(v float64) bool { return v != data.values[0] && !math.IsNaN(v) }
	if !slices.ContainsFunc(data.values, moves) {
		return nil
	}
	periods := []int{0}
	if a.Period > 1 {
		periods = append(periods, a.Period)
	}
	trail := newTrail(len(data.values))
	var best *search
	least := math.Inf(1)
	for _, period := range periods {
		for trend := NoTrend; trend <= DampedTrend; trend++ {
			found, err := Model{Trend: trend, Period: period}.search(data, trail)
			if err != nil {
				continue
			}
			if c := aicc(data.logLikelihood(found.value), found.model.estimated(), data.count); c < least {
				best, least = found, c
			}
		}
	}
	return best
}
