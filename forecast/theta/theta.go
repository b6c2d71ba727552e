// Package theta forecasts by the theta method of Assimakopoulos & Nikolopoulos (2000), the simple method that won the M3
// competition: simple exponential smoothing that drifts by half of the slope of the series' straight line (Hyndman &
// Billah 2003). The smoothing minimises the squared one-step errors. Of a series with a season take
// naive.Deseasonalised with a Theta: a season that is significant at 90 % is divided out first and multiplied in again.
//
// The standard errors are those of simple exponential smoothing, σ√(1 + (h−1)α²). A missing value leaves the level where
// it is, and the errors go on widening.
package theta

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Theta is the theta method of a series without season. With one, see naive.Deseasonalised.
type Theta struct{}

var (
	_ forecast.Model  = Theta{}
	_ forecast.Fitted = (*Fitted)(nil)
)

// Name is "theta".
func (Theta) Name() string { return "theta" }

// Fit wants three observations. Errors: forecast.ErrTooShort, forecast.ErrNotFinite.
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
	if err := numeric.Check(s, leastObservations); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	// About the first value and in a unit of the largest, so that neither a high level nor a small unit costs digits.
	first := numeric.First(s.Values)
	scale := numeric.Scale(s.Values)
	values := make([]float64, s.Len()-first)
	for i, v := range s.Values[first:] {
		values[i] = v/scale - s.Values[first]/scale
	}
	f := estimate(values)
	f.scale, f.origin = scale, s.Values[first]/scale
	f.next, f.step = s.End(), s.Step
	return f, nil
}

// Fitted is a theta method with its parameters, and its state after the last observation.
type Fitted struct {
	alpha float64
	// level is that of the smoothing. The drift of the line is part of it, so that the forecast of step h is the level
	// and h drifts.
	level, drift float64
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

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	if !numeric.Observed(y) {
		f.level += f.drift
		f.unknown += f.alpha * f.alpha
		return
	}
	f.take(min(max(y/f.scale, -numeric.Limit), numeric.Limit) - f.origin)
	f.unknown *= (1 - f.alpha) * (1 - f.alpha)
}

// take moves the state past an observation.
func (f *Fitted) take(y float64) {
	f.level += f.drift
	f.level += f.alpha * (y - f.level)
}

// PointsTo writes the forecasts of the coming steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	point := f.level
	for i := range dst {
		point += f.drift
		dst[i] = (point + f.origin) * f.scale
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

// leastAlpha is the slowest smoothing: that of ten thousand steps.
const leastAlpha = 1e-4

// estimate fits the method on values that begin with an observation, near 1 in size: half of the slope of the line through
// all of them, and simple exponential smoothing by least squares.
func estimate(values []float64) *Fitted {
	drift := straight(values) / 2
	alpha := search(values)
	start, _ := smooth(values, alpha)
	f := &Fitted{alpha: alpha, level: start - drift, drift: drift} // The first forecast is the level's alone.
	f.run(values)
	return f
}

// run moves the state over the values and takes the deviation of the errors of the smoothing alone, which was fitted.
func (f *Fitted) run(values []float64) {
	sum, n, plain := 0.0, 0, f.level+f.drift
	for _, y := range values {
		if math.IsNaN(y) {
			f.Update(y)
			continue
		}
		e := y - plain
		plain += f.alpha * e
		sum += e * e
		n++
		f.take(y)
		f.unknown *= (1 - f.alpha) * (1 - f.alpha)
	}
	const parameters = 2 // The level and α.
	if n > parameters {
		n -= parameters
	}
	f.deviation = math.Sqrt(sum / float64(n))
}

// straight is the slope of the least-squares line through the observations.
func straight(values []float64) float64 {
	n, x, y := 0.0, 0.0, 0.0
	for i, v := range values {
		if !math.IsNaN(v) {
			n++
			x += (float64(i) - x) / n
			y += (v - y) / n
		}
	}
	cross, squares := 0.0, 0.0
	for i, v := range values {
		if !math.IsNaN(v) {
			d := float64(i) - x
			cross += d * (v - y)
			squares += d * d
		}
	}
	return cross / squares
}

// search is the α of the least squares, by a grid and then by Brent's method between the neighbours of its best.
func search(values []float64) float64 {
	const cells = 12
	at := func(i int) float64 { // Denser where smoothing is slow.
		u := float64(i) / cells
		return leastAlpha + (1-leastAlpha)*u*u
	}
	loss := func(alpha float64) float64 {
		_, squares := smooth(values, alpha)
		return squares
	}
	best, least := 0, math.Inf(1)
	for i := range cells + 1 {
		if v := loss(at(i)); v < least {
			best, least = i, v
		}
	}
	const tolerance = 1e-7
	found := numeric.Brent(loss, at(max(best-1, 0)), at(min(best+1, cells)), tolerance)
	if loss(found) < least {
		return found
	}
	return at(best)
}

// smooth gives the first level with which the squared errors at α are least, and their sum: the errors are linear in it.
func smooth(values []float64, alpha float64) (start, squares float64) {
	// The level is base + first·start.
	base, first := 0.0, 1.0
	var ee, ea, aa float64
	for _, y := range values {
		if math.IsNaN(y) {
			continue
		}
		e := y - base
		ee += e * e
		ea += e * first
		aa += first * first
		base += alpha * e
		first *= 1 - alpha
	}
	start = ea / aa
	return start, ee - 2*start*ea + start*start*aa
}
