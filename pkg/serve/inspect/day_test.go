package inspect_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// The next day is in the outlook and on the page with the replicas that are expected, between minReplicas and maxReplicas; the hours
// that are over are left out.
func TestTheNextDay(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	e.Objective.Autoscalers[0].Min, e.Objective.Autoscalers[0].Max = 2, 5
	status := inspect.Outlook(e, snapshottest.Now()).Status
	if len(status.Day) != 23 || status.Day[0].Time.Hour() != 14 {
		t.Fatalf("%d hours from %v, want the 23 from 14:00 that are not over", len(status.Day), status.Day)
	}
	// At 15:00 there are 119.9 requests/s: 5.1 replicas of 40 at the relative cost of 1.7. At night 28: 1.2.
	if at := status.Day[1]; *at.Replicas != 5 {
		t.Errorf("%d replicas for %v, want 5", *at.Replicas, *at.Point)
	}
	if night := status.Day[13]; *night.Replicas != 2 {
		t.Errorf("%d replicas for %v, want 2, the least", *night.Replicas, *night.Point)
	}
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	says(t, page, "expected replicas", "lead window", `<path class="lead"`, "Next 23h: the highest forecast is "+
		"119.9 requests/s at 15:00 UTC (0.95 quantile: 143.8), which needs 5 replicas", "; 74.0 replica-hours in "+
		"total.")
	if late := inspect.Outlook(e, snapshottest.Now().Add(25*time.Hour)).Status.Day; len(late) != 0 {
		t.Errorf("%d hours are left of a day that is over", len(late))
	}
}

// Who reads a list looks at no Forecast's next day, which would then be made more often.
func TestAListHasNoNextDay(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	snapshots := snapshottest.Store(e)
	before := snapshottest.Now().Add(-time.Minute)
	for _, o := range list(t, outlooks(t, snapshots), &internalversion.ListOptions{}).Items {
		if o.Status.Day != nil {
			t.Errorf("%s has a day in a list", o.Name)
		}
	}
	front(t, e)
	if e.Views.LookedSince(before) {
		t.Error("a list counts as a look")
	}
	browse(t, snapshots, "llama", "page")
	if !e.Views.LookedSince(before) {
		t.Error("the page does not count as a look")
	}
}

// The replicas that were really ready are drawn over those of the autoscaler that scales: in shadow mode over the one before.
func TestActualReplicasInTheRace(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	race := e.Objective.Replay
	ready := forecast.Series{Start: race.Start.Add(2 * race.Step), Step: race.Step, Values: []float64{3, math.NaN(), 4}}
	e.Views.Set(&snapshot.Background{Ready: ready})
	for _, mode := range []decide.Mode{decide.Floor, decide.Shadow} {
		e.Settings.Mode = mode
		status := inspect.Outlook(e, snapshottest.Now()).Status
		got := status.Objective.Race.Actual
		if want := []int32{-1, -1, 3, -1, 4, -1}; !slices.Equal(got[:6], want) || len(got) != len(race.Intervals) {
			t.Fatalf("%v of %d, want %v of %d", got[:6], len(got), want, len(race.Intervals))
		}
		before, forewarm, _ := inspect.Strips(&status, status.Objective.Over.Duration)
		if mode == decide.Shadow {
			before, forewarm = forewarm, before
		}
		if before.Actual != nil || forewarm.Actual[4] != 4 || !math.IsNaN(forewarm.Actual[3]) {
			t.Errorf("%s: %v and %v", mode, before.Actual, forewarm.Actual[:6])
		}
	}
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	says(t, page, "replicas that were actually ready", `<path class="actual"`)
}

// A window that is shorter than the lead time is that of the median start, and the page says so.
func TestThePageSaysWhatTheWindowIsMadeOf(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	for lead, want := range map[time.Duration]string{
		5 * time.Minute: "lead time &#43; HPA sync", 8 * time.Minute: "median start time &#43; HPA sync",
	} {
		e.Lead = lead
		if page := browse(t, snapshottest.Store(e), "llama", "page").Body.String(); !strings.Contains(page, want) {
			t.Errorf("with a lead time of %s the page does not say %q", lead, want)
		}
	}
}
