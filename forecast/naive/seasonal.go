package naive

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
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
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	if s.Len() <= m.Period {
		return nil, fmt.Errorf("%s: %d steps, want more than %d: %w", m.Name(), s.Len(), m.Period, forecast.ErrTooShort)
	}
	f := &seasonal{
		values: make([]float64, m.Period), ages: make([]uint16, m.Period), next: s.End(), step: s.Step,
	}
	for i := range f.values {
		f.values[i] = math.NaN()
	}
	scale := numeric.Scale(s.Values)
	squares, count := 0.0, 0
	for _, y := range s.Values {
		if before := f.values[f.at]; !math.IsNaN(y) && !math.IsNaN(before) {
			d := (y - before) / scale
			squares += d * d / (float64(f.ages[f.at]) + 1)
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

// seasonal is a seasonal random walk at its origin.
type seasonal struct {
	// values are the newest observations of the season's steps, NaN where there never was one; ages are how many seasons
	// ago beyond the last they were made. Two slices hold them in less memory than one of pairs.
	values []float64
	ages   []uint16
	// at is the season's step that comes next.
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
	switch {
	case numeric.Observed(y):
		f.last, f.values[f.at], f.ages[f.at] = y, y, 0
	case f.ages[f.at] < math.MaxUint16:
		f.ages[f.at]++
	}
	f.at = (f.at + 1) % len(f.values)
}

// PointsTo writes the last season, over and over.
func (f *seasonal) PointsTo(dst []float64) {
	at := f.at
	for i := range dst {
		dst[i] = f.values[at]
		if math.IsNaN(dst[i]) {
			dst[i] = f.last
		}
		at++
		if at == len(f.values) {
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
		seasons := i/len(f.values) + 1 + int(f.ages[(f.at+i)%len(f.values)])
		out.StdErr[i] = f.deviation * math.Sqrt(float64(seasons))
	}
	return out
}
