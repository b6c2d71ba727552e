package naive

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Max forecasts, for every step ahead, the maximum of the last Window observations: what came lately may come again. A
// hard baseline on bursty demand, and what people build with PromQL's max_over_time.
type Max struct {
	// Window is the number of steps looked back over, at least 1.
	Window int
}

var (
	_ forecast.Model  = Max{}
	_ forecast.Fitted = (*FittedMax)(nil)
)

// Name is "Max(w=…)".
func (m Max) Name() string { return fmt.Sprintf("Max(w=%d)", m.Window) }

// Fit needs one observation. Errors: forecast.ErrParameter, forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Max) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Window < 1 {
		return nil, fmt.Errorf("%s: window %d, want 1 or more: %w", m.Name(), m.Window, forecast.ErrParameter)
	}
	if err := units.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	f := &FittedMax{next: s.Start, step: s.Step, ring: make([]float64, m.Window), last: math.NaN()}
	for i := range f.ring {
		f.ring[i] = math.NaN()
	}
	for _, y := range s.Values {
		f.Update(y)
	}
	return f, nil
}

// FittedMax is a Max with the observations it looks back over.
type FittedMax struct {
	next time.Time
	step time.Duration
	ring []float64
	at   int
	// last is the newest maximum, NaN before the first: it holds on where the whole window is a gap.
	last float64
	// squares and count are those of the one-step errors.
	squares float64
	count   int
}

// Update takes the next observation; a gap leaves the window one observation poorer. A value that is not finite, or
// beyond 1e150, counts as missing.
func (f *FittedMax) Update(y float64) {
	if !units.Observed(y) {
		y = math.NaN()
	}
	if e := y - f.last; !math.IsNaN(e) {
		f.squares += e * e
		f.count++
	}
	f.ring[f.at] = y
	f.at = (f.at + 1) % len(f.ring)
	f.next = f.next.Add(f.step)
	highest := math.Inf(-1)
	for _, v := range f.ring {
		if v > highest { // false for a gap
			highest = v
		}
	}
	if !math.IsInf(highest, -1) {
		f.last = highest
	}
}

// PointsTo writes the maximum to every step.
func (f *FittedMax) PointsTo(dst []float64) {
	for i := range dst {
		dst[i] = f.last
	}
}

// Forecast is the maximum for every step, its standard error that of one step at every horizon: the maximum is a bound
// by experience, not a model whose errors add up.
func (f *FittedMax) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start:  f.next,
		Step:   f.step,
		Point:  make([]float64, max(h, 0)),
		StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = math.Sqrt(f.squares / math.Max(float64(f.count), 1))
	}
	return out
}
