package refresh_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

const batch = "batch"

func jobWithWork() refresh.Job {
	out := jobOf("llama")
	out.History, out.Deadline = 6*24*time.Hour, 30*time.Minute
	out.SideQueries = refresh.SideQueries{refresh.Deferrable: batch}
	out.Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Lead: 5 * time.Minute, Target: 10}
	out.Autoscalers = hpaWithMax(100)
	return out
}

// Work that may wait raises the value where the demand's headroom leaves too little, and only then. It is reported, and so is what is
// wrong with it.
func TestWorkThatMayWait(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	none := func(time.Time) float64 { return math.NaN() }
	for name, tt := range map[string]struct {
		work   func(time.Time) float64
		change func(*refresh.Job)
		fails  bool
		reason string // of the condition; empty for none.
		raises bool
	}{
		"none":       {work: none},
		"a little":   {work: func(time.Time) float64 { return 1 }},
		"as much":    {work: func(time.Time) float64 { return 400 }, raises: true},
		"it fails":   {work: none, fails: true, reason: "Unavailable"},
		"included":   {work: func(at time.Time) float64 { return daily(at) + 5 }, reason: "IncludesDemand", raises: true},
		"too soon":   {work: none, change: func(j *refresh.Job) { j.Deadline = time.Minute }, reason: "DeadlineTooShort"},
		"no target":  {work: none, change: func(j *refresh.Job) { j.Autoscalers, j.Settings.Target = nil, 0 }, reason: "NotPlanned"},
		"at maximum": {work: func(time.Time) float64 { return 900 }, change: func(j *refresh.Job) { j.Autoscalers = hpaWithMax(20) }, reason: "DeadlinesMissed", raises: true},
	} {
		t.Run(name, func(t *testing.T) {
			job, plain := jobWithWork(), jobWithWork()
			if tt.change != nil {
				tt.change(&job)
				tt.change(&plain)
			}
			plain.SideQueries, plain.Deadline = nil, 0
			from := sources{"demand": {demand: daily}, batch: {demand: tt.work}}
			if tt.fails {
				from[batch].fail = func(refresh.Query) error { return fmt.Errorf("%w: 502", series.ErrUnavailable) }
			}
			value := func(j refresh.Job) *snapshot.ForecastSnapshot {
				loop, _ := newLoop(t, from, fixedJobs{j})
				return entry(t, loop.Step(t.Context(), noon), "llama")
			}
			with, without := value(job), value(plain)
			if got := with.Decision.DeadlineFloor > 0; got != tt.raises {
				t.Errorf("needed %v: %s", with.Decision.DeadlineFloor, with.Decision.Reason())
			}
			if tt.raises == (with.Decision.Value == without.Decision.Value) ||
				with.Decision.Value < without.Decision.Value {
				t.Errorf(
					"served %v with the work, %v without: %s",
					with.Decision.Value,
					without.Decision.Value,
					with.Decision.Reason(),
				)
			}
			if tt.raises &&
				!strings.Contains(with.Decision.Reason(), "so that work with a deadline finishes in time") {
				t.Errorf("the reason: %s", with.Decision.Reason())
			}
			if hasCondition(with, snapshot.ConditionDeferrable) != (tt.reason != "") {
				t.Fatalf("the conditions: %+v", with.Conditions)
			}
			if tt.reason != "" {
				if c := condition(t, with, snapshot.ConditionDeferrable); c.True || c.Reason != tt.reason {
					t.Errorf("%+v, want %s", c, tt.reason)
				}
			}
		})
	}
}
