package ets

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Model is one model of the family, chosen by its components. The zero value is ETS(A,N,N), simple exponential
// smoothing with an estimated starting level.
type Model struct {
	Spec
	// Period is the length of the season in steps, 2 or more, where there is a season.
	Period int
	// Region is where the parameters are searched; the zero value is Usual.
	Region Region
	// Alpha, Beta, Gamma and Phi fix parameters; nil estimates them.
	Alpha, Beta, Gamma, Phi *float64
	// Start fixes the states before the first observation; nil estimates them, the season only up to a period of 24,
	// beyond which it is taken from the first four seasons.
	Start *States
	// Simulation replaces the analytic variances by those of simulated paths, and the Gaussian quantiles by theirs. The
	// models without analytic variance (additive errors with a season that multiplies) simulate in any case.
	Simulation Simulation
}

// States are the level, the trend per step before damping, and the season, that of the coming step first.
type States struct {
	Level, Trend float64
	Season       []float64
}

// Simulation configures the simulation of forecasts. The same seed gives the same paths.
type Simulation struct {
	// Paths is how many futures are drawn: 5000 give the 95 % quantile within about 2 % of the standard error. 0 means
	// analytic variances where there are any, and otherwise 2000.
	Paths int
	Seed  uint64
}

// Name is the model with its period: "ETS(M,Ad,M)[12]".
func (m Model) Name() string {
	if m.Season == NoSeason {
		return m.String()
	}
	return fmt.Sprintf("%s[%d]", m.Spec, m.Period)
}

// Fit maximises the likelihood over the parameters and the starting states. It wants more observations than the model
// has parameters, two whole seasons from the first observation on where there is a season, and positive values
// (forecast.ErrNotPositive) where something multiplies.
func (m Model) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows parameters, states and the likelihood.
func (m Model) Estimate(s forecast.Series) (*Fitted, error) {
	data, err := scaled(s)
	if err == nil {
		var found *search
		if found, err = m.search(data, newRoom(len(data.values))); err == nil {
			return m.finish(found, data)
		}
	}
	return nil, fmt.Errorf("%s: %w", m.Name(), err)
}

// sample is a series from its first observation on, divided by a power of two that brings it to the order of 1.
type sample struct {
	values []float64
	scale  float64
	// count is the number of observations, lowest and highest the extremes of values.
	count           int
	lowest, highest float64
	series          forecast.Series
}

func scaled(s forecast.Series) (sample, error) {
	if err := units.Check(s, 1); err != nil {
		return sample{}, err
	}
	first := units.First(s.Values)
	out := sample{series: s, scale: units.Scale(s.Values), values: make([]float64, s.Len()-first)}
	out.lowest = s.Values[first] / out.scale
	out.highest = out.lowest
	for i, v := range s.Values[first:] {
		v /= out.scale
		out.values[i] = v
		if !math.IsNaN(v) {
			out.count++
			out.lowest, out.highest = min(out.lowest, v), max(out.highest, v)
		}
	}
	return out, nil
}

// check returns why the model does not suit the sample, whatever its parameters.
func (m Model) check(data sample) error {
	if err := m.valid(); err != nil {
		return err
	}
	if m.Season != NoSeason {
		if m.Period < 2 {
			return fmt.Errorf("period %d, want 2 or more: %w", m.Period, forecast.ErrParameter)
		}
		if n := len(data.values); n < 2*m.Period {
			return fmt.Errorf("%d steps from the first observation on, want two seasons of %d: %w",
				n, m.Period, forecast.ErrTooShort)
		}
	}
	if m.positive() && !(data.lowest > 0) {
		return fmt.Errorf("a value is %g, want all above 0: %w", data.lowest*data.scale, forecast.ErrNotPositive)
	}
	if want := m.components(m.Period) + 1; data.count < want && m.Start == nil {
		return fmt.Errorf("%d observations, want %d: %w", data.count, want, forecast.ErrTooShort)
	}
	return m.checkStart()
}

func (m Model) checkStart() error {
	if m.Start == nil {
		return nil
	}
	want := 0
	if m.Season != NoSeason {
		want = m.Period
	}
	if got := len(m.Start.Season); got != want {
		return fmt.Errorf("a starting season of %d slots, want %d: %w", got, want, forecast.ErrParameter)
	}
	if !m.Start.finite() {
		return fmt.Errorf("starting states %+v: %w", *m.Start, forecast.ErrParameter)
	}
	return nil
}

func (s States) finite() bool {
	ok := units.Observed(s.Level) && units.Observed(s.Trend)
	for _, v := range s.Season {
		ok = ok && units.Observed(v)
	}
	return ok
}

// errNoStart: the search met no point at which the model means something.
var errNoStart = fmt.Errorf("no start is forecastable and keeps what multiplies positive: %w",
	forecast.ErrNoConvergence)
