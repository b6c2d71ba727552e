package smoothing

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// state is the level, the trend and the last season. season has at least one element, which is 0 if the model has no season. at is the slot
// of the next step.
type state struct {
	level, trend float64
	season       []float64
	at           int
}

// gains converts the parameters of the error-correction form to shares of the forecast error.
func (p Parameters) gains() gains {
	return gains{level: p.Alpha, trend: p.Alpha * p.Beta, season: (1 - p.Alpha) * p.Gamma, phi: p.Phi}
}

// expected returns the forecast of the next step.
func (s *state) expected(g gains) float64 {
	return s.level + g.phi*s.trend + s.season[s.at]
}

// observe moves the state one step forward with its observation; NaN if it is missing.
func (s *state) observe(g gains, y float64) {
	surprise := y - s.expected(g)
	if math.IsNaN(y) {
		surprise = 0
	}
	s.move(g, surprise)
}

// points writes the forecasts of the next steps to dst.
func (s *state) points(g gains, dst []float64) {
	level, trend, at := s.level, s.trend, s.at
	for i := range dst {
		trend *= g.phi
		level += trend
		dst[i] = level + s.season[at]
		at++
		if at == len(s.season) {
			at = 0
		}
	}
}

// move moves the state one step forward, with the step's forecast error.
func (s *state) move(g gains, surprise float64) {
	damped := g.phi * s.trend
	s.level += damped + g.level*surprise
	s.trend = damped + g.trend*surprise
	s.season[s.at] += g.season * surprise
	s.at++
	if s.at == len(s.season) {
		s.at = 0
	}
}

// run moves the state over the values and returns the sum of the squared forecast errors.
func (s *state) run(g gains, values []float64) float64 {
	level, trend, at, season := s.level, s.trend, s.at, s.season
	sum := 0.0
	for _, y := range values {
		damped := g.phi * trend
		surprise := y - level - damped - season[at]
		if math.IsNaN(surprise) {
			surprise = 0
		}
		sum += surprise * surprise
		level += damped + g.level*surprise
		trend = damped + g.trend*surprise
		season[at] += g.season * surprise
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
	return sum
}

// Fitted is a fitted exponential smoothing model: its parameters, and its states after the last observation.
type Fitted struct {
	parameters Parameters
	gains      gains
	state      state
	period     int
	sse        float64
	// deviation is the standard deviation of the one-step errors.
	deviation float64
	// gap are the responses to the unknown errors of the gap at the origin. missed is the variance that this gap, if there is one, has
	// added so far, and faded is what is left of the variance from earlier gaps. Both are in units of deviation².
	gap           response
	missed, faded float64
	next          time.Time
	step          time.Duration
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *Fitted) observe(y float64) {
	if !numeric.Observed(y) {
		f.state.observe(f.gains, math.NaN())
		c := f.gap.next()
		f.missed += c * c
		return
	}
	f.state.observe(f.gains, y)
	rest := 1 - f.gains.level
	f.faded = rest * rest * (f.faded + f.missed)
	f.missed = 0
	f.gap = newResponse(f.gains, f.period)
}

// PointsTo writes the point forecasts of the next len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) { f.state.points(f.gains, dst) }

// Forecast returns the forecast of the next h steps. The standard errors include the responses to the errors of all steps before.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	variance, ahead := 1+f.missed+f.faded, f.gap
	for i := range out.StdErr {
		out.StdErr[i] = f.deviation * math.Sqrt(variance)
		c := ahead.next()
		variance += c * c
	}
	return out
}

// Parameters are the smoothing parameters, fitted or fixed.
func (f *Fitted) Parameters() Parameters { return f.parameters }

// Level is the level at the origin.
func (f *Fitted) Level() float64 { return f.state.level }

// Trend is the trend per step at the origin, before damping.
func (f *Fitted) Trend() float64 { return f.state.trend }

// Season returns the present season, starting with the next step; nil if the model has no season. The caller may change the slice.
func (f *Fitted) Season() []float64 {
	if f.period == 0 {
		return nil
	}
	at := f.state.at
	return append(append(make([]float64, 0, f.period), f.state.season[at:]...), f.state.season[:at]...)
}

// SSE returns the sum of the squared one-step errors over the fitted series, from the step after the start on.
func (f *Fitted) SSE() float64 { return f.sse }
