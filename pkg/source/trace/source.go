package trace

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/series"
)

// Source plays a trace back as history: every query is answered with the trace, whatever it says, but never with what
// lies at or after the simulated present. It is not safe for concurrent use: a simulation is one thread of time.
type Source struct {
	series forecast.Series
	now    time.Time
}

var _ refresh.Source = (*Source)(nil)

// NewSource makes a source whose present is the trace's beginning; nothing is visible yet.
func NewSource(s forecast.Series) *Source { return &Source{series: s, now: s.Start} }

// Shift is the trace moved in time so that its first value is at start: a recorded week becomes last week.
func Shift(s forecast.Series, start time.Time) forecast.Series {
	s.Start = start
	return s
}

// SetNow moves the simulated present: only values before it are answered. It may be set back, as a test may.
func (s *Source) SetNow(now time.Time) { s.now = now }

// Fetch answers with the trace on the query's grid: the value at a time is that of the last row at or before it, as an
// instant query would see it, but for no longer than one step of the trace. A finer grid repeats values, a coarser one
// samples them. Errors wrap the sentinels of package series.
func (s *Source) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	if err := ctx.Err(); err != nil {
		return forecast.Series{}, fmt.Errorf("trace: %w: %w", err, series.ErrUnavailable)
	}
	if q.Step <= 0 || q.To.Before(q.From) || s.series.Step <= 0 {
		return forecast.Series{}, fmt.Errorf("trace: from %v to %v by %v of a trace by %v: %w",
			q.From, q.To, q.Step, s.series.Step, series.ErrQuery)
	}
	if q.Points() > maxPoints {
		return forecast.Series{}, fmt.Errorf("trace: %d points, at most %d are allowed: %w",
			q.Points(), maxPoints, series.ErrTooLarge)
	}
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		out.Values[i] = s.at(out.TimeAt(i))
	}
	if out.Observed() == 0 {
		return forecast.Series{}, fmt.Errorf("trace: nothing from %v to %v; the trace has %v to %v, seen up to %v: %w",
			q.From, q.To, s.series.Start, s.series.End(), s.now, series.ErrNone)
	}
	return out, nil
}

// at is the value at a time, NaN before the trace, after it and from the present on.
func (s *Source) at(t time.Time) float64 {
	if t.Before(s.series.Start) || !t.Before(s.now) || !t.Before(s.series.End()) {
		return math.NaN()
	}
	return s.series.Values[t.Sub(s.series.Start)/s.series.Step]
}
