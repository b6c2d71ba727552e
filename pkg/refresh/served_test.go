package refresh_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// recorded is a job with an objective.
func recorded() refresh.Job {
	out := measuredTarget()
	out.SideQueries = nil
	return out
}

// TestTheRecordIsOfWhatWasServed: while a pause serves nothing but what is observed, the record has the lateness of that, although the
// forecaster would have served more. Over an anchor it stays, and another loop that starts with the record of the first one publishes
// the same.
func TestTheRecordIsOfWhatWasServed(t *testing.T) {
	jobs := fixedJobs{recorded()}
	source := &demandSource{demand: daily}
	loop, _ := newLoop(t, source, jobs)
	const hours = 14                                      // Over two anchors.
	jobs[0].Pause = decide.Pause{Capacity: 5, Target: 10} // Half of what is needed.
	begin := noon.Add(-12 * time.Hour)
	end := begin.Add(hours * time.Hour)
	for now := begin; now.Before(end); now = now.Add(step) {
		loop.Step(t.Context(), now)
	}
	first := entry(t, loop.Step(t.Context(), end), "llama").Objective
	if first.Served.BadHours < 3 || first.Record == nil {
		t.Fatalf("%d bad hours, and the record %+v", first.Served.BadHours, first.Record)
	}
	for _, h := range first.Bad.Worth {
		if h.Replayed {
			t.Errorf("%+v is said to be replayed", h)
		}
	}

	plain, _ := newLoop(t, source, fixedJobs{recorded()})
	if replay := entry(
		t,
		plain.Step(t.Context(), end),
		"llama",
	).Objective; replay.Served.BadHours > 0 ||
		replay.Record != nil {
		t.Errorf("a replay has %d bad hours, and the record %+v", replay.Served.BadHours, replay.Record)
	}
	jobs[0].Record = first.Record
	other, _ := newLoop(t, source, jobs)
	second := entry(t, other.Step(t.Context(), end), "llama").Objective
	if second.Served.BadHours != first.Served.BadHours || *second.Record != *first.Record {
		t.Errorf("after a restart: %d bad hours, want %d", second.Served.BadHours, first.Served.BadHours)
	}
}
