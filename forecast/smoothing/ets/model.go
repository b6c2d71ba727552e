package ets

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Trend is the trend component.
type Trend int

// The trends. The zero value is none, which is what demand wants unless the data say otherwise.
const (
	NoTrend Trend = iota
	AdditiveTrend
	DampedTrend
)

// Model is one model of the family, chosen by its components. The zero value is ETS(A,N,N), simple exponential
// smoothing with an estimated starting level.
type Model struct {
	Trend Trend
	// Period is the length of the season in steps, 2 or more; 0 means no season.
	Period int
}

// Name is the model in the notation of Hyndman et al. (2008), with its period: "ETS(A,Ad,A)[12]".
func (m Model) Name() string {
	trend := "?"
	switch m.Trend {
	case NoTrend:
		trend = "N"
	case AdditiveTrend:
		trend = "A"
	case DampedTrend:
		trend = "Ad"
	}
	if m.Period == 0 {
		return "ETS(A," + trend + ",N)"
	}
	return fmt.Sprintf("ETS(A,%s,A)[%d]", trend, m.Period)
}

// Fit maximises the likelihood over the parameters and the starting states; what it returns is a *Fitted. It wants more
// observations than the model has parameters, and with a season two whole ones from the first observation on
// (forecast.ErrTooShort).
func (m Model) Fit(s forecast.Series) (forecast.Fitted, error) {
	data, err := scaled(s)
	if err == nil {
		var found *search
		if found, err = m.search(data, newTrail(len(data.values))); err == nil {
			return found.finish(), nil
		}
	}
	return nil, fmt.Errorf("%s: %w", m.Name(), err)
}

// estimated counts what is estimated: α, the level and the variance, with a trend β and the trend, with damping φ, and
// with a season γ and the season less the one that the others leave.
func (m Model) estimated() int { return 3 + [...]int{0, 2, 3}[m.Trend] + m.Period }

// check returns why the model does not suit the sample, whatever its parameters.
func (m Model) check(data sample) error {
	switch {
	case m.Trend < NoTrend || m.Trend > DampedTrend:
		return fmt.Errorf("trend component %d is unknown: %w", m.Trend, forecast.ErrParameter)
	case m.Period < 0 || m.Period == 1:
		return fmt.Errorf("period %d, want 0 or 2 or more: %w", m.Period, forecast.ErrParameter)
	}
	if n := len(data.values); n/2 < m.Period {
		return fmt.Errorf("%d steps from the first observation on, want two seasons of %d: %w",
			n, m.Period, forecast.ErrTooShort)
	}
	if want := m.estimated() + 1; data.count < want {
		return fmt.Errorf("%d observations, want %d: %w", data.count, want, forecast.ErrTooShort)
	}
	return nil
}

// sample is a series from its first observation on, divided by a power of two that brings it to the order of 1.
type sample struct {
	values []float64
	scale  float64
	// count is the number of observations.
	count  int
	series forecast.Series
}

func scaled(s forecast.Series) (sample, error) {
	if err := numeric.Check(s, 1); err != nil {
		return sample{}, err
	}
	first := numeric.First(s.Values)
	out := sample{series: s, scale: numeric.Scale(s.Values), values: make([]float64, s.Len()-first)}
	for i, v := range s.Values[first:] {
		out.values[i] = v / out.scale
		if !math.IsNaN(v) {
			out.count++
		}
	}
	return out, nil
}

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
