package refresh_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// A warm pool that covers a Forecast shortens its window, so that less is served for the same objective; where it ends,
// what is served is as if there had never been one. No step of it is without a value, and the history is read once.
func TestACoverShortensTheWindowAndCostsNoValue(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	const long, short, steps = 6 * time.Minute, 2 * time.Minute, 15
	asked := func() fixedJobs {
		out := fixedJobs{jobOf("llama")}
		out[0].Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Target: 10}
		out[0].Autoscalers = hpaWithMax(50)
		setMeasuredLead(&out[0], long, "p90 of 23 starts")
		return out
	}
	source, covered := &demandSource{demand: daily}, asked()
	loop, _ := newLoop(t, source, covered)
	never, _ := newLoop(t, &demandSource{demand: daily}, asked())
	// The steepest hour of the day.
	now := noon.Add(12 * time.Hour)
	run := func(lead time.Duration, words string) (served, servedWithout float64) {
		t.Helper()
		setMeasuredLead(&covered[0], lead, words)
		for range steps {
			now = now.Add(step)
			e := entry(t, loop.Step(t.Context(), now), "llama")
			longer := e.Window - leadtime.Window(lead)
			if e.State != snapshot.Ready || e.Lead != lead || longer < 0 || longer >= step || e.LeadSource != words {
				t.Fatalf("%s: %s, lead %s (%s), window %s", words, e.ReadyMessage(), e.Lead, e.LeadSource, e.Window)
			}
			without := entry(t, never.Step(t.Context(), now), "llama")
			served, servedWithout = served+e.Decision.Value, servedWithout+without.Decision.Value
			if diff := bitwise(without, e); diff != "" &&
				lead == long {
				t.Fatalf("at %s the cover leaves traces (-never covered +uncovered)\n%s", now, diff)
			}
		}
		return served / steps, servedWithout / steps
	}
	run(long, "p90 of 23 starts")
	queries := len(source.queries)
	served, without := run(short, "p90 of 11 starts on existing nodes that warm pool h100 provides; 6m0s without it")
	t.Logf("covered %.4g are served, without the cover %.4g", served, without)
	if served >= 0.99*without {
		t.Errorf("covered %.4g are served, without the cover %.4g: a window of %s saves nothing", served, without,
			short)
	}
	run(long, "p90 of 23 starts")
	for _, q := range source.queries[queries:] {
		if q.From.Before(q.To.Add(-time.Hour)) {
			t.Errorf("%d points from %s on: the history was read again", q.Points(), q.From)
		}
	}
}
