package naive

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Seasonal is the seasonal random walk: every step ahead is what the same step of the last season was. Where that is
// missing it is what the season before had, and so on; where no season has it, the last observation.
type Seasonal struct {
	// Period is the length of the season in steps, 2 or more.
	Period int
}

// Name is the method with its period: "Seasonal naive(m=24)".
func (m Seasonal) Name() string { return fmt.Sprintf("Seasonal naive(m=%d)", m.Period) }

// Fit keeps the last season and measures the differences from season to season. It wants more than one season, with one
// pair of observations a season apart. A difference over k seasons counts as k.
func (m Seasonal) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Period < 2 {
		return nil, fmt.Errorf("%s: period %d, want 2 or more: %w", m.Name(), m.Period, forecast.ErrParameter)
	}
	if err := units.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	if s.Len() <= m.Period {
		return nil, fmt.Errorf("%s: %d steps, want more than %d: %w", m.Name(), s.Len(), m.Period, forecast.ErrTooShort)
	}
	f := &seasonal{slots: make([]slot, m.Period), next: s.End(), step: s.Step}
	for i := range f.slots {
		f.slots[i].value = math.NaN()
	}
	scale := units.Scale(s.Values)
	squares, count := 0.0, 0
	for _, y := range s.Values {
		if at := f.slots[f.at]; !math.IsNaN(y) && !math.IsNaN(at.value) {
			d := (y - at.value) / scale
			squares += d * d / float64(at.age+1)
			count++
		}
		f.observe(y)
	}
	if count == 0 {
		return nil, fmt.Errorf("%s: no two observations a season apart: %w", m.Name(), forecast.ErrTooShort)
	}
	f.deviation = scale * math.Sqrt(squares/float64(count))
	return f, nil
}

// slot is one step of the season: its newest observation, NaN where there never was one, and how many seasons ago
// beyond the last that was.
type slot struct {
	value float64
	age   int
}

// seasonal is a seasonal random walk at its origin; at is the slot of the coming step.
type seasonal struct {
	slots     []slot
	at        int
	last      float64
	deviation float64
	next      time.Time
	step      time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *seasonal) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *seasonal) observe(y float64) {
	s := &f.slots[f.at]
	s.age++
	if units.Observed(y) {
		f.last = y
		*s = slot{value: y}
	}
	f.at = (f.at + 1) % len(f.slots)
}

// PointsTo writes the last season, over and over.
func (f *seasonal) PointsTo(dst []float64) {
	at := f.at
	for i := range dst {
		dst[i] = f.slots[at].value
		if math.IsNaN(dst[i]) {
			dst[i] = f.last
		}
		at++
		if at == len(f.slots) {
			at = 0
		}
	}
}

// Forecast has σ√(k+1) for the standard error of step h, k the whole seasons in h−1, with one more season for each that
// the slot's observation lies further back.
func (f *seasonal) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		seasons := i/len(f.slots) + 1 + f.slots[(f.at+i)%len(f.slots)].age
		out.StdErr[i] = f.deviation * math.Sqrt(float64(seasons))
	}
	return out
}
