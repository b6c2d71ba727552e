package ets

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing/internal/response"
)

// floorShare is the least level of a season that multiplies, as a share of the lowest observation.
const floorShare = 1e-3

// finish makes the fitted model of the best point that a search found, in the units of the series.
func (m Model) finish(s *search, data sample) (*Fitted, error) {
	s.Value(s.best)
	if math.IsNaN(s.value) || math.IsInf(s.value, 1) {
		return nil, fmt.Errorf("deviance %v: %w", s.value, forecast.ErrNoConvergence)
	}
	f := &Fitted{
		spec: m.Spec, parameters: s.p, simulation: m.Simulation, next: data.series.End(), step: data.series.Step,
		likelihood: s.likelihood(m, data), floor: math.Max(floorShare*data.lowest, math.SmallestNonzeroFloat64),
	}
	if m.Season != NoSeason {
		f.period = m.Period
	}
	if m.Season == MultiplicativeSeason {
		f.products = make([]line, m.Period)
	}
	if m.unstable() && f.simulation.Paths == 0 {
		f.simulation.Paths = defaultPaths
	}
	freedom := f.likelihood.Observations - (f.likelihood.Parameters - 1)
	if freedom <= 0 {
		freedom = f.likelihood.Observations
	}
	f.deviation = math.Sqrt(s.deviance.sum / float64(freedom))
	f.gap = response.New(f.parameters.gains(), f.period)
	s.origin.normalise(m.Spec)
	f.state = s.origin.clone()
	for _, y := range data.values {
		f.observe(y)
	}
	s.origin.rescale(m.Spec, data.scale)
	f.start = s.origin.exported(m.Spec)
	f.state.rescale(m.Spec, data.scale)
	// Above 0 even where the product is below the smallest number.
	f.floor = math.Max(f.floor*data.scale, math.SmallestNonzeroFloat64)
	if m.Error == AdditiveError {
		f.deviation *= data.scale
	}
	return f, nil
}

// likelihood is that of the point looked at last, in the units of the series.
func (s *search) likelihood(m Model, data sample) Likelihood {
	sse := 0.0
	for i, a := range s.trail.surprise {
		if !math.IsNaN(s.values[i]) {
			sse += a * a
		}
	}
	n := float64(data.count)
	estimated := 1 + s.space.angles
	if !s.fixed {
		// With the season that is not searched, too: it was taken from the series.
		estimated = m.components(m.Period) - s.space.given
	}
	return Likelihood{
		Log: -s.value/2 - n*math.Log(data.scale), SSE: sse * data.scale * data.scale,
		Parameters: estimated, Observations: data.count,
	}
}

// normalise moves what the season has in common to the level: a season that is added sums to 0, one that multiplies has
// mean 1.
func (s *state) normalise(spec Spec) {
	if spec.Season == NoSeason {
		return
	}
	centre := mean(s.season)
	if spec.Season == AdditiveSeason {
		s.level += centre
		for i := range s.season {
			s.season[i] -= centre
		}
		return
	}
	s.level *= centre
	s.trend *= centre
	for i := range s.season {
		s.season[i] /= centre
	}
}

// rescale multiplies the states with the scale of the series.
func (s *state) rescale(spec Spec, scale float64) {
	s.level *= scale
	s.trend *= scale
	if spec.Season != MultiplicativeSeason {
		for i := range s.season {
			s.season[i] *= scale
		}
	}
}

func (s *state) clone() state {
	out := *s
	out.season = append([]float64(nil), s.season...)
	return out
}
