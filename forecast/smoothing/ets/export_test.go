package ets

import (
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Parameters are the smoothing parameters.
type Parameters = parameters

// Fixed is the model with these parameters and states before the first observation: level, trend, and the season from
// the coming step on.
func (m Model) Fixed(p Parameters, level, trend float64, season []float64, s forecast.Series) (*Fitted, error) {
	data, err := scaled(s)
	if err != nil {
		return nil, err
	}
	origin := state{level: level / data.scale, trend: trend / data.scale, season: make([]float64, max(len(season), 1))}
	for i, v := range season {
		origin.season[i] = v / data.scale
	}
	return m.fixed(p, origin, data), nil
}

// States are those at the origin in R's order: level, trend, and the season with that of the coming step last.
func (f *Fitted) States() []float64 {
	out := []float64{f.state.level}
	if f.model.Trend != NoTrend {
		out = append(out, f.state.trend)
	}
	if f.model.Period > 0 {
		season := slices.Concat(f.state.season[f.state.at:], f.state.season[:f.state.at])
		slices.Reverse(season)
		out = append(out, season...)
	}
	return out
}

// LogLikelihood is that of the fit, less constants.
func (f *Fitted) LogLikelihood() float64 { return f.logLikelihood }

// Deviation is the standard deviation of the errors.
func (f *Fitted) Deviation() float64 { return f.deviation }

// SetDeviation replaces it.
func (f *Fitted) SetDeviation(d float64) { f.deviation = d }

// Clone is a copy that moves by itself.
func (f *Fitted) Clone() *Fitted {
	out := *f
	out.state = f.state.clone()
	return &out
}

// Deviance is what a fit minimises.
type Deviance struct{ *search }

// NewDeviance is that of a model on a series, with states in units of 0.05 of the largest value.
func NewDeviance(m Model, s forecast.Series) (Deviance, error) {
	data, err := scaled(s)
	if err != nil {
		return Deviance{}, err
	}
	out := m.newSearch(data, newTrail(len(data.values)))
	out.unit = 0.05
	return Deviance{out}, nil
}

// Variables is how many the fit moves.
func (d Deviance) Variables() int { return d.variables() }

// Forecastable reports whether past observations fade.
func (m Model) Forecastable(p Parameters) bool { return newSpace(m).forecastable(p) }
