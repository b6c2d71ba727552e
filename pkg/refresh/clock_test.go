package refresh_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// rightClockSource is a source with a clock that is right: it has no sample of a time to come, and refuses ranges that are too long.
type rightClockSource struct {
	now     time.Time
	queries int
}

func (p *rightClockSource) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	p.queries++
	if q.Points() > 100_000 {
		return forecast.Series{}, fmt.Errorf("%d points: %w", q.Points(), series.ErrTooLarge)
	}
	if q.From.After(p.now) {
		return forecast.Series{}, series.ErrNoSeries
	}
	return answer(q, func(at time.Time) float64 {
		if at.After(p.now) {
			return math.NaN()
		}
		return daily(at)
	}), nil
}

// The machine's clock is set wrong and right again: nothing absurd is served, nothing for longer than the samples are good
// for, and as soon as the clock is right all is as it was.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{
		time.Second, -time.Second, 3 * time.Minute, -3 * time.Minute, time.Hour, -time.Hour, 26 * time.Hour, -26 * time.Hour,
		365 * 24 * time.Hour, -365 * 24 * time.Hour,
	} {
		for _, lasts := range []time.Duration{step, 7 * time.Minute, 2 * time.Hour} {
			t.Run(fmt.Sprintf("%s for %s", off, lasts), func(t *testing.T) {
				t.Parallel()
				source := &rightClockSource{}
				loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
				now := noon
				play := func(span, off time.Duration) (e *snapshot.ForecastSnapshot) {
					t.Helper()
					for end := now.Add(span); now.Before(end); now = now.Add(step) {
						source.now = now
						e = entry(t, loop.Step(t.Context(), now.Add(off)), "llama")
						if v := e.Decision.Value; e.State.Serves() && !(v > 0 && v < 250) {
							t.Fatalf("%s serves %v: %s", now.Add(off), v, e.ReadyMessage())
						}
					}
					return e
				}
				play(10*time.Minute, 0)
				wrong := play(lasts, off)
				if lasts > time.Hour && off.Abs() > 10*time.Minute && wrong.State.Serves() &&
					(off > 0 || now.Add(off).Before(noon.Add(9*time.Minute))) {
					t.Errorf("with a wrong clock %s after two hours: %s", wrong.State, wrong.ReadyMessage())
				}
				asked := source.queries
				right := play(2*step, 0)
				if right.State != snapshot.Ready || now.Sub(right.SampleTime) > 3*step {
					t.Errorf("with the clock right again: %s, newest sample at %s, it is %s: %+v", right.State,
						right.SampleTime, now, right.Conditions)
				}
				if n := source.queries - asked; n > 3 {
					t.Errorf("%d queries in two steps", n)
				}
				fresh, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
				want := entry(t, fresh.Step(t.Context(), now.Add(-step)), "llama")
				if want.Decision.Value != right.Decision.Value || want.Model != right.Model {
					t.Errorf("a wrong clock leaves traces: %v by %s, without it %v by %s", right.Decision.Value,
						right.Model, want.Decision.Value, want.Model)
				}
			})
		}
	}
}

// A clock that trembles by less than a step costs nothing: nothing is read again.
func TestClockJitter(t *testing.T) {
	source := &rightClockSource{}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	now := noon
	for i := range 120 {
		source.now = now
		e := entry(t, loop.Step(t.Context(), now.Add(time.Duration(i%5-2)*20*time.Second)), "llama")
		if e.State != snapshot.Ready {
			t.Fatalf("step %d: %s: %s", i, e.State, e.ReadyMessage())
		}
		now = now.Add(step)
	}
	if source.queries > 125 {
		t.Errorf("%d queries in 120 steps", source.queries)
	}
}
