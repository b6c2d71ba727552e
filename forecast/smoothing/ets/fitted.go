package ets

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// Fitted is a model of the family with its parameters, and its states after the last observation.
type Fitted struct {
	model      Model
	parameters parameters
	state      state
	// logLikelihood is log L, estimated the number of parameters and starting states that the observations gave, the
	// variance included.
	logLikelihood           float64
	estimated, observations int
	// deviation is the standard deviation of the one-step errors, in units of the series.
	deviation float64
	// gap are the responses that the next missing value leaves unknown; missed sums the squares of those that the gap
	// at the origin left so far, and faded is what is left of earlier gaps. Both are in units of the error's variance.
	gap           innovations.Response
	missed, faded float64
	next          time.Time
	step          time.Duration
}

// finish makes the fitted model of the best point.
func (s *search) finish() *Fitted {
	s.Value(s.best)
	return s.model.fitted(s.p, s.origin, s.data, s.sum, s.model.estimated())
}

// fixed is the model with these parameters and states before the first observation: nothing but the variance is
// estimated.
func (m Model) fixed(p parameters, origin state, data sample) *Fitted {
	end := origin.clone()
	sum := newTrail(len(data.values)).smooth(p, &end, data.values)
	return m.fitted(p, origin, data, sum, 1)
}

// fitted goes over the sample from the origin, and then to the units of the series.
func (m Model) fitted(p parameters, origin state, data sample, sum float64, estimated int) *Fitted {
	f := &Fitted{
		model: m, parameters: p, state: origin.clone(), next: data.series.End(), step: data.series.Step,
		logLikelihood: data.logLikelihood(deviance(sum, data.count)), estimated: estimated, observations: data.count,
	}
	f.deviation = math.Sqrt(sum/float64(data.count-(estimated-1))) * data.scale
	f.gap = f.responses()
	if m.Period > 0 {
		f.state.centre()
	}
	for _, y := range data.values {
		f.observe(y)
	}
	f.state.level *= data.scale
	f.state.trend *= data.scale
	for i := range f.state.season {
		f.state.season[i] *= data.scale
	}
	return f
}

func (s *state) clone() state {
	out := *s
	out.season = slices.Clone(s.season)
	return out
}

// centre moves what the season has in common to the level, so that it sums to 0.
func (s *state) centre() {
	common := mean(s.season)
	s.level += common
	for i := range s.season {
		s.season[i] -= common
	}
}

// Name is the model with its period, "ETS(A,Ad,A)[12]".
func (f *Fitted) Name() string { return f.model.Name() }

// AICc is the criterion by which Auto chooses: it compares models of this package on one series, less is better.
func (f *Fitted) AICc() float64 { return aicc(f.logLikelihood, f.estimated, f.observations) }

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *Fitted) observe(y float64) {
	if !numeric.Observed(y) {
		f.state.move(f.parameters, math.NaN())
		c := f.gap.Next()
		f.missed += c * c
		return
	}
	f.state.move(f.parameters, y)
	rest := 1 - f.parameters.Alpha
	f.faded = rest * rest * (f.faded + f.missed)
	f.missed = 0
	f.gap = f.responses()
}

// responses are those of the coming steps to a surprise.
func (f *Fitted) responses() innovations.Response {
	p := f.parameters
	return innovations.NewResponse(innovations.Gains{Level: p.Alpha, Trend: p.Beta, Season: p.Gamma, Phi: p.Phi},
		f.model.Period)
}

// move takes the state one step on with its observation, NaN where it is missing.
func (s *state) move(p parameters, y float64) {
	damped := p.Phi * s.trend
	base := s.level + damped
	surprise := y - (base + s.season[s.at])
	if math.IsNaN(y) {
		surprise = 0
	}
	s.level = base + p.Alpha*surprise
	s.trend = damped + p.Beta*surprise
	s.season[s.at] += p.Gamma * surprise
	s.at++
	if s.at == len(s.season) {
		s.at = 0
	}
}

// PointsTo writes the point forecasts of the coming len(dst) steps, the means, to dst.
func (f *Fitted) PointsTo(dst []float64) {
	level, trend, at := f.state.level, f.state.trend, f.state.at
	for i := range dst {
		trend *= f.parameters.Phi
		level += trend
		dst[i] = level + f.state.season[at]
		at++
		if at == len(f.state.season) {
			at = 0
		}
	}
}

// Forecast is the forecast of the coming h steps. The variance of step h is σ²(1 + c₁² + … + c²ₕ₋₁), with c the
// responses to a surprise (Hyndman et al. 2008, §6.1); a gap at the origin has put more of them before.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	variance, ahead := 1+f.missed+f.faded, f.gap
	for i := range out.StdErr {
		out.StdErr[i] = f.deviation * math.Sqrt(variance)
		c := ahead.Next()
		variance += c * c
	}
	return out
}
