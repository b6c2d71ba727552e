package refresh_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// setMeasuredLead sets a lead time as the resolver does, in an object that did not change.
func setMeasuredLead(t *refresh.Job, lead time.Duration, words string) {
	t.Lead, t.Settings.Lead, t.LeadSource = lead, lead, words
}

func TestAnotherLeadTimeIsAnotherState(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, source, jobs)
	loop.Step(t.Context(), noon)
	setMeasuredLead(&jobs[0], 15*time.Minute, "p90 of 12 starts")
	after := entry(t, loop.Step(t.Context(), noon.Add(time.Second)), "llama")
	if after.Lead != 15*time.Minute || after.Window < leadtime.Window(15*time.Minute) ||
		after.State != snapshot.Ready {
		t.Errorf("lead %s, window %s, %s", after.Lead, after.Window, after.ReadyMessage())
	}
	if len(source.queries) != 1 {
		t.Errorf("%d queries: the history was read again", len(source.queries))
	}
	fresh, _ := newLoop(t, source, jobs)
	want := entry(t, fresh.Step(t.Context(), noon.Add(time.Second)), "llama")
	sameBits(t, "the old lead time leaves traces", want, after)
}

func TestInformativeFieldsRebuildNothing(t *testing.T) {
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, &demandSource{demand: daily}, jobs)
	before := loop.Step(t.Context(), noon).Loop.Refits
	setMeasuredLead(&jobs[0], jobs[0].Lead, "p90 of 13 starts")
	jobs[0].AutoscalerSource, jobs[0].Uncalibrated = "two HPAs", "it needs a target"
	loop.Step(t.Context(), noon.Add(time.Second))
	s := loop.Step(t.Context(), noon.Add(step))
	e := entry(t, s, "llama")
	if e.LeadSource != "p90 of 13 starts" || e.AutoscalerSource != "two HPAs" || s.Loop.Refits != before {
		t.Errorf("%q, %q after %d rebuilds, want the new words and %d", e.LeadSource, e.AutoscalerSource,
			s.Loop.Refits, before)
	}
}

func TestALeadTimeThatChangesWhileTheSourceIsDownCostsNoValue(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, source, jobs)
	loop.Step(t.Context(), noon)
	source.fail = func(refresh.Query) error { return fmt.Errorf("%w: refused", series.ErrUnavailable) }
	setMeasuredLead(&jobs[0], 15*time.Minute, "p90 of 12 starts")
	e := entry(t, loop.Step(t.Context(), noon.Add(step)), "llama")
	if e.State != snapshot.Ready || e.Lead != 5*time.Minute {
		t.Errorf("%s with lead %s, want the value of the old lead time", e.ReadyMessage(), e.Lead)
	}
	source.fail = nil
	e = entry(t, loop.Step(t.Context(), noon.Add(3*step)), "llama")
	if e.State != snapshot.Ready || e.Lead != 15*time.Minute {
		t.Errorf("when the source is back: %s with lead %s", e.ReadyMessage(), e.Lead)
	}
}

// A query that takes long keeps its worker: the next lead time waits for it, and the history is not read again.
func TestALeadTimeThatChangesDuringAQueryWaitsForIt(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	answer := make(chan struct{})
	source.fail = func(refresh.Query) error { <-answer; return nil }
	loop, _ := loopWith(t, refresh.Config{Grace: time.Millisecond}, source, jobs)
	// The grace ends before the answer, which is the history.
	loop.Step(t.Context(), noon)
	setMeasuredLead(&jobs[0], 15*time.Minute, "p90 of 12 starts")
	loop.Step(t.Context(), noon.Add(time.Second))
	close(answer)
	for i := range 1000 {
		e := entry(t, loop.Step(t.Context(), noon.Add(time.Duration(i+2)*time.Millisecond+time.Second)), "llama")
		if e.State == snapshot.Ready && e.Lead == 15*time.Minute {
			break
		}
		time.Sleep(5 * time.Millisecond)
		if i == 999 {
			t.Fatalf("never changed over: %s, lead %s", e.ReadyMessage(), e.Lead)
		}
	}
	histories := 0
	for _, q := range source.queries {
		if q.Points() > 3*24*60 {
			histories++
		}
	}
	if histories != 1 {
		t.Errorf("%d histories were read", histories)
	}
}

// An objective looks ahead by the median of starts that vary, for its headroom pays for the slow ones. A quantile, and starts of two
// kinds, have the slow ones' time.
func TestAnObjectiveLooksAheadByTheMedianStart(t *testing.T) {
	byOutcome := jobOf("llama")
	byOutcome.Settings = decide.Settings{Late: 0.01, Target: 10}
	byOutcome.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: defaultHPA()}}
	for name, c := range map[string]struct {
		of           refresh.Job
		median, want time.Duration
	}{
		"an objective":        {byOutcome, 5 * time.Minute, 5 * time.Minute},
		"starts of two kinds": {byOutcome, 3 * time.Minute, 8 * time.Minute},
		"an unknown median":   {byOutcome, 0, 8 * time.Minute},
		"a quantile":          {jobOf("llama"), 5 * time.Minute, 8 * time.Minute},
	} {
		c.of.Lead, c.of.MedianLead = 8*time.Minute, c.median
		loop, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{c.of})
		e := entry(t, loop.Step(t.Context(), noon), "llama")
		if want := leadtime.Window(c.want); e.Window < want || e.Window >= want+step || e.Settings.Lead != c.want {
			t.Errorf("%s: window %s, lead %s, want %s and %s", name, e.Window, e.Settings.Lead, want, c.want)
		}
	}
}
