package naive

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Last is the random walk: every step ahead is the last observation.
type Last struct{}

// Name is "Last value".
func (Last) Name() string { return "Last value" }

// Fit keeps the last observation and measures the steps between neighbours. It wants two observations. A step over a
// gap of k values counts as k steps.
func (m Last) Fit(s forecast.Series) (forecast.Fitted, error) {
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	scale := numeric.Scale(s.Values)
	previous, squares, count := -1, 0.0, 0
	for i, v := range s.Values {
		if math.IsNaN(v) {
			continue
		}
		if previous >= 0 {
			d := (v - s.Values[previous]) / scale
			squares += d * d / float64(i-previous)
			count++
		}
		previous = i
	}
	return &last{
		value: s.Values[previous], age: s.Len() - 1 - previous,
		deviation: scale * math.Sqrt(squares/float64(count)), next: s.End(), step: s.Step,
	}, nil
}

// last is a random walk at its origin; age is how many steps ago its value was observed.
type last struct {
	value, deviation float64
	age              int
	next             time.Time
	step             time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *last) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.age++
	if numeric.Observed(y) {
		f.value, f.age = y, 0
	}
}

// PointsTo writes the last observation to every element.
func (f *last) PointsTo(dst []float64) {
	for i := range dst {
		dst[i] = f.value
	}
}

// Forecast has σ√h for the standard error of step h, counted from the last observation.
func (f *last) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = f.deviation * math.Sqrt(float64(f.age+i+1))
	}
	return out
}
