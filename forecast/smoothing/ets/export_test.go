package ets

import (
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// SetDeviation replaces the standard deviation of the errors.
func (f *Fitted) SetDeviation(d float64) { f.deviation = d }

// SetTrend replaces the trend at the origin.
func (f *Fitted) SetTrend(b float64) { f.state.trend = b }

// Deviance is what a fit minimises.
type Deviance struct{ *search }

// NewDeviance is that of a model on a series, with states in units of 0.05 of the largest value.
func NewDeviance(m Model, s forecast.Series) (Deviance, error) {
	data, err := scaled(s)
	if err != nil {
		return Deviance{}, err
	}
	out, err := m.newSearch(data, newRoom(len(data.values)))
	if err != nil {
		return Deviance{}, err
	}
	out.unit = 0.05
	return Deviance{out}, nil
}

// Variables is how many the fit moves.
func (d Deviance) Variables() int { return d.variables() }

// Forecastable reports whether past observations fade.
func Forecastable(spec Spec, p Parameters, period int) bool {
	s := &space{spec: spec, period: period, theta: make([]float64, 3*(period+2))}
	return s.forecastable(p)
}

// Decay is the logarithm of the growth per step of the means after a disturbance, when nothing but zeros is observed.
func Decay(p Parameters, period int) float64 {
	s := state{level: 1, trend: 0.3, season: make([]float64, period)}
	if period > 1 {
		s.season[0] = 0.5
	}
	zeros := make([]float64, 200*period)
	passed := newTrail(len(zeros))
	size := func() float64 {
		passed.additive(p, &s, zeros)
		sum := 0.0
		for _, a := range passed.surprise {
			sum += math.Abs(a)
		}
		return math.Log(sum + 1e-300)
	}
	first := size()
	return (size() - first) / float64(len(zeros))
}
