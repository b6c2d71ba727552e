package refresh_test

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// A pause is served at the next step and ends at the next step: nothing is read or fitted again, and what was learnt meanwhile is what
// a Forecast that was never paused has learnt.
func TestAPauseCostsNothing(t *testing.T) {
	source, neverPaused := &demandSource{demand: daily}, &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, source, jobs)
	other, _ := newLoop(t, neverPaused, fixedJobs{jobOf("llama")})
	same := cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateNaNs(),
		cmpopts.IgnoreFields(snapshot.ForecastSnapshot{}, "Views"),
	}
	paused := decide.Pause{Capacity: 64, Target: 32, Hold: 3 * time.Minute}
	for minute := range 40 {
		at := noon.Add(time.Duration(minute) * step)
		jobs[0].Pause = decide.Pause{}
		if minute >= 10 && minute < 30 {
			jobs[0].Pause = paused
		}
		e, want := entry(t, loop.Step(t.Context(), at), "llama"), entry(t, other.Step(t.Context(), at), "llama")
		if !jobs[0].Pause.Active() {
			if diff := cmp.Diff(want, e, same); diff != "" {
				t.Fatalf("minute %d: not as if it had never been paused:\n%s", minute, diff)
			}
			continue
		}
		highest := 0.0
		for ago := range 4 {
			highest = math.Max(highest, daily(e.SampleTime.Add(-time.Duration(ago)*step)))
		}
		c := condition(t, e, snapshot.ConditionPaused)
		if math.Abs(e.Decision.Value-2*highest) > 1e-4 || !c.True || c.Reason != "AsBefore" {
			t.Errorf("minute %d: %g is served of %g, the highest; %+v", minute, e.Decision.Value, highest, c)
		}
		would := e.Decision.WouldServe
		if e.State != snapshot.Ready || would != want.Decision.Value || e.Settings.Mode != decide.Shadow {
			t.Errorf("minute %d: %s, it would serve %g, want %g", minute, e.State, would, want.Decision.Value)
		}
	}
	if len(source.queries) != len(neverPaused.queries) {
		t.Errorf("%d queries, want %d", len(source.queries), len(neverPaused.queries))
	}
}

// Its value is the observed demand's also while the fallback would serve. Too old it is none, and the condition stays.
func TestAPauseOfAFailingSource(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	jobs[0].Pause = decide.Pause{Capacity: 64, Target: 32, Least: 1000, Assumed: "set it"}
	loop, _ := newLoop(t, source, jobs)
	loop.Step(t.Context(), noon)
	source.fail = func(refresh.Query) error { return errors.Join(series.ErrUnavailable) }
	e := entry(t, loop.Step(t.Context(), noon.Add(6*time.Minute)), "llama")
	if e.State != snapshot.FallingBack || e.Decision.Value != 1000 {
		t.Errorf("%s, %g is served, want the least value", e.State, e.Decision.Value)
	}
	e = entry(t, loop.Step(t.Context(), noon.Add(time.Hour)), "llama")
	if _, err := e.Answer(decide.Overrides{}, noon.Add(time.Hour)); !errors.Is(err, snapshot.ErrNotServing) {
		t.Errorf("%s: %v", e.State, err)
	}
	if c := condition(t, e, snapshot.ConditionPaused); !c.True || c.Reason != "BeforeAssumed" {
		t.Errorf("%+v", c)
	}
	jobs[0].Pause = decide.Pause{Invalid: "it is \"yes\""}
	e = entry(t, loop.Step(t.Context(), noon.Add(2*time.Hour)), "llama")
	if c := condition(t, e, snapshot.ConditionPaused); c.True || c.Reason != "InvalidAnnotation" {
		t.Errorf("%+v", c)
	}
}
