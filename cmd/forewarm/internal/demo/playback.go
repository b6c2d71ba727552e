package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

const day = 24 * time.Hour

// playback is a trace that does not end: at its end it continues from the same time of day. It is a pure function of time, so that the past
// and the demand during the demo are one series.
type playback struct {
	forecast.Series
	// back is how many steps it goes back at the end of the trace. If the trace has whole days, this is a number of whole days.
	back int
}

// newPlayback returns an error if the trace cannot be demand.
func newPlayback(trace forecast.Series) (*playback, error) {
	if err := checkPlayable(trace); err != nil {
		return nil, err
	}
	p := &playback{Series: trace, back: trace.Len()}
	if perDay := stepsOf(day, trace); trace.Len() >= perDay && day%trace.Step == 0 {
		p.back = trace.Len() / perDay * perDay
	}
	return p, nil
}

func stepsOf(d time.Duration, s forecast.Series) int { return max(1, int(d/s.Step)) }

// checkPlayable reports why a trace cannot be demand, and what to do.
func checkPlayable(trace forecast.Series) error {
	const least = 60
	if n := trace.Observed(); n < least {
		return fmt.Errorf("only %d rows have a value, but a forecast needs %d: record for longer, or in shorter steps",
			n, least)
	}
	if err := trace.Check(least); err != nil {
		return fmt.Errorf("the trace cannot be forecast: %w", err)
	}
	if i := slices.IndexFunc(trace.Values, func(v float64) bool { return v < 0 }); i >= 0 {
		return fmt.Errorf("the trace is %v at step %d: demand is never negative, correct or remove the value",
			trace.Values[i], i)
	}
	if !slices.ContainsFunc(trace.Values, func(v float64) bool { return v > 0 }) {
		return errors.New("every value is 0: there is no demand to forecast, choose another --column")
	}
	return nil
}

// at returns the value at a time. A value applies to its whole step. The result is NaN in a gap and before the start.
func (p *playback) at(t time.Time) float64 {
	elapsed := t.Sub(p.Start)
	if elapsed < 0 {
		return math.NaN()
	}
	i := int(elapsed / p.Step)
	if over := i - p.Len(); over >= 0 {
		i -= (1 + over/p.back) * p.back
	}
	return p.Values[i]
}

// sampled returns the values of [from, to), with a sample at every interval.
func (p *playback) sampled(from, to time.Time, interval time.Duration) forecast.Series {
	out := forecast.Series{Start: from, Step: interval}
	for at := from; at.Before(to); at = at.Add(interval) {
		out.Values = append(out.Values, p.at(at))
	}
	return out
}

// riseLength is the length of the rise before which a demo begins.
const riseLength = 30 * time.Minute

// largestRise returns the beginning of the largest rise within riseLength, in the second half of a trace. A rise can be forecast if it also
// happened at the same time on the previous day. Therefore, in a trace of several days, the smaller of the two rises counts.
func largestRise(s forecast.Series) time.Time {
	n, before := stepsOf(riseLength, s), stepsOf(day, s)
	sums := summed(s.Values)
	risesAt := func(i int) float64 { return sums[i+n] - 2*sums[i] + sums[i-n] }
	most, at := math.Inf(-1), s.Len()/2
	for i := max(s.Len()/2, n); i+n <= s.Len(); i++ {
		here := risesAt(i)
		if i-before >= n {
			here = min(here, risesAt(i-before))
		}
		if here > most {
			most, at = here, i
		}
	}
	return s.TimeAt(at)
}

// summed returns sums: the i-th is the sum of the values before i. A gap counts as the value before it.
func summed(values []float64) []float64 {
	sums, last := make([]float64, len(values)+1), 0.0
	for i, v := range values {
		if !math.IsNaN(v) {
			last = v
		}
		sums[i+1] = sums[i] + last
	}
	return sums
}

// demand returns the labels of the demand's series.
func demand() map[string]string {
	return map[string]string{"__name__": "demo_demand", "namespace": namespace}
}

// maxInterval is the maximum interval between two samples. Many scrapers use it.
const maxInterval = 30 * time.Second

// feeder appends the demand to the engine's store by the demo's clock. A scraper could only use real time.
type feeder struct {
	played   *playback
	engine   *embedded.Engine
	interval time.Duration
	// next is the time of the next sample.
	next time.Time
}

// backfill stores the past, and returns a feeder that stores the demand from then on.
func backfill(ctx context.Context, engine *embedded.Engine, played *playback, begin time.Time) (*feeder, error) {
	f := &feeder{
		played: played, engine: engine, next: begin,
		interval: min(max(played.Step, time.Second), maxInterval),
	}
	from := played.Start
	if oldest := begin.Add(-maxHistory); from.Before(oldest) { // No Forecast uses a longer history.
		from = oldest
	}
	from = begin.Add(-begin.Sub(from).Truncate(f.interval))
	past := embedded.BackfillSeries{Labels: demand(), Series: played.sampled(from, begin, f.interval)}
	err := engine.Backfill(ctx, embedded.BackfillData{
		Series: slices.Values([]embedded.BackfillSeries{past}), Before: begin,
	})
	return f, err
}

// run appends each sample at its time, including samples for which it is late, until the context ends.
func (f *feeder) run(ctx context.Context, now *clock) error {
	for now.WaitUntil(ctx, f.next) == nil {
		if err := f.engine.Append(ctx, demand(), f.next, f.played.at(f.next)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("store the demand: %w", err)
		}
		f.next = f.next.Add(f.interval)
	}
	return nil
}

// clock is the only clock of a demo. It begins at a time of the demand and runs faster than real time. The samples, the loop and everything
// that is served use it.
type clock struct {
	life run.WallClock
	// from is the time at which it began, and began is the real time at that moment.
	from, began time.Time
	speed       float64
}

// startClock starts a clock at a time.
func startClock(at time.Time, speed float64) *clock {
	c := &clock{from: at, speed: speed}
	c.began = c.life.Now()
	return c
}

// Now is the time of the demand.
func (c *clock) Now() time.Time {
	return c.from.Add(time.Duration(float64(c.life.Now().Sub(c.began)) * c.speed))
}

// WaitUntil returns at t or just after it, or with the context's error before.
func (c *clock) WaitUntil(ctx context.Context, t time.Time) error {
	wait := time.Duration(float64(t.Sub(c.from))/c.speed) + 1 // Rounded down, the wait would end before t.
	return c.life.WaitUntil(ctx, c.began.Add(wait))
}
