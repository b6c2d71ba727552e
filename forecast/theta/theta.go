package theta

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Line is how the straight line takes part.
type Line int

// The lines. The zero value is the classic one.
const (
	// Standard is half of the slope of the line through the whole series, added to simple exponential smoothing.
	Standard Line = iota
	// Optimised is a part of that slope, between none and all, by least squares.
	Optimised
	// Dynamic is a part of the line through what was observed so far, by least squares.
	Dynamic
)

// Theta is the theta method of a series without season. With one, see naive.Deseasonalised.
type Theta struct {
	Line Line
}

var (
	_ forecast.Model  = Theta{}
	_ forecast.Fitted = (*Fitted)(nil)
)

// Name is "theta", "theta(optimised)" or "theta(dynamic)".
func (m Theta) Name() string {
	switch m.Line {
	case Optimised:
		return "theta(optimised)"
	case Dynamic:
		return "theta(dynamic)"
	default:
		return "theta"
	}
}

// Fit wants three observations. Errors: forecast.ErrParameter, forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Theta) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// leastObservations is what a level, a slope and a smoothing can be told from.
const leastObservations = 3

// Estimate is Fit with the concrete type, which shows the parameters.
func (m Theta) Estimate(s forecast.Series) (*Fitted, error) {
	if m.Line < Standard || m.Line > Dynamic {
		return nil, fmt.Errorf("theta: line %d, want Standard, Optimised or Dynamic: %w", m.Line, forecast.ErrParameter)
	}
	if err := units.Check(s, leastObservations); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	// About the first value and in a unit of the largest, so that neither a high level nor a small unit costs digits.
	first := units.First(s.Values)
	scale := units.Scale(s.Values)
	values := make([]float64, s.Len()-first)
	for i, v := range s.Values[first:] {
		values[i] = v/scale - s.Values[first]/scale
	}
	f := m.fit(values)
	f.scale, f.origin = scale, s.Values[first]/scale
	f.next, f.step = s.End(), s.Step
	return f, nil
}

// Fitted is a theta method with its parameters, and its state after the last observation.
type Fitted struct {
	alpha float64
	// part is 1 − 1/θ: how much of the line takes part.
	part    float64
	dynamic bool
	// level is that of the smoothing. The drift of a line that stays is part of it, so that the forecast of step h is
	// the level and h drifts; a dynamic line is added to the level.
	level, drift float64
	line         line
	deviation    float64
	// unknown is the variance of the level that missing values left, in units of deviation².
	unknown float64
	// A value y is (y/scale − origin) inside.
	scale, origin float64
	next          time.Time
	step          time.Duration
}

// Alpha is the share of a surprise that moves the level.
func (f *Fitted) Alpha() float64 { return f.alpha }

// Theta is the bend θ of the theta line, from 1, smoothing alone, to +Inf, all of the line. Standard has 2.
func (f *Fitted) Theta() float64 { return 1 / (1 - f.part) }

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	if !units.Observed(y) {
		f.level += f.drift
		f.unknown += f.alpha * f.alpha
		return
	}
	f.take(min(max(y/f.scale, -units.Limit), units.Limit) - f.origin)
	f.unknown *= (1 - f.alpha) * (1 - f.alpha)
}

// take moves the state past an observation.
func (f *Fitted) take(y float64) {
	f.level += f.drift
	f.level += f.alpha * (y - f.level)
	if f.dynamic {
		f.line.take(y, f.alpha)
	}
}

// expected is the forecast of the coming step.
func (f *Fitted) expected() float64 {
	if f.dynamic {
		return f.level + f.part*f.line.ahead(f.alpha)
	}
	return f.level + f.drift
}

// PointsTo writes the forecasts of the coming steps to dst. A dynamic line goes on from forecast to forecast.
func (f *Fitted) PointsTo(dst []float64) {
	from := *f
	for i := range dst {
		point := from.expected()
		dst[i] = (point + f.origin) * f.scale
		from.take(point)
	}
}

// Forecast is the forecast of the coming h steps, with standard errors.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		variance := 1 + f.unknown + float64(i)*f.alpha*f.alpha
		out.StdErr[i] = f.scale * f.deviation * math.Sqrt(variance)
	}
	return out
}

// line is the straight line through what was observed so far, of which step n was the last.
type line struct {
	n, mean, slope float64
	// kept is (1−α)ⁿ: how much the smoothing still hears of the first level.
	kept float64
}

// take adds an observation (Fiorucci et al. 2016, equations 14 to 16).
func (l *line) take(y, alpha float64) {
	l.n++
	if l.n > 1 {
		l.slope = ((l.n-2)*l.slope + 6/l.n*(y-l.mean)) / (l.n + 1)
	}
	l.mean += (y - l.mean) / l.n
	l.kept *= 1 - alpha
}

// ahead is what the whole of the line adds to the level at the coming step: the smoothing of a straight line lags behind
// it by this much.
func (l *line) ahead(alpha float64) float64 {
	start := l.mean - (l.n+1)/2*l.slope
	return l.kept*start + (1-l.kept*(1-alpha))/alpha*l.slope
}
