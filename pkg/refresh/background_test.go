package refresh_test

import (
	"errors"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// The next day is forecast in the background: at the start, every six hours, and every two hours while somebody looks at it.
func TestTheNextDayFollowsWhoLooks(t *testing.T) {
	t.Parallel()
	loop, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{jobOf("llama")})
	now := noon
	// after steps to a time after noon, and returns when the day that is known then begins, as one who is there at another time.
	after := func(since, looks time.Duration) time.Time {
		t.Helper()
		var e *snapshot.ForecastSnapshot
		for end := noon.Add(since); !now.After(end); now = now.Add(step) {
			e = entry(t, loop.Step(t.Context(), now), "llama")
			loop.WaitForBackground()
		}
		hours := e.Views.Look(noon.Add(looks)).NextDay
		if len(hours) != 24 {
			t.Fatalf("%d hours are known after %s", len(hours), since)
		}
		return hours[0].Time
	}
	never := -48 * time.Hour
	for _, c := range []struct{ since, looks, begins time.Duration }{
		{0, never, -time.Hour}, // The sample of noon itself is not there yet, nor at any of the hours that follow.
		{5 * time.Hour, never, -time.Hour},
		{6*time.Hour + 5*time.Minute, 6 * time.Hour, 5 * time.Hour},
		{7*time.Hour + 10*time.Minute, 7 * time.Hour, 5 * time.Hour},
		{8*time.Hour + 15*time.Minute, never, 7 * time.Hour},
		{12 * time.Hour, never, 7 * time.Hour},
	} {
		if got := after(c.since, c.looks).Sub(noon); got != c.begins {
			t.Errorf("after %s the day begins at noon%+v, want %+v", c.since, got, c.begins)
		}
	}
}

// Where an objective is raced, the replicas that were ready are read over its intervals, in one query.
func TestReadyReplicasAreReadForTheRace(t *testing.T) {
	t.Parallel()
	target := jobOf("llama")
	target.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: target.Lead}
	target.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: defaultHPA()}}
	target.SideQueries = refresh.SideQueries{refresh.Ready: "ready"}
	source := &demandSource{demand: daily}
	loop, _ := newLoop(t, source, fixedJobs{target})
	e := entry(t, loop.Step(t.Context(), noon), "llama")
	loop.WaitForBackground()
	race, ready := e.Objective.Replay, e.Views.Look(noon).Ready
	if !ready.Start.Equal(race.Start) || ready.Step != race.Step || ready.Len() != len(race.Intervals) ||
		ready.Values[0] != daily(race.Start) {
		t.Errorf("%d intervals of %s from %s, want %d of %s from %s", ready.Len(), ready.Step, ready.Start,
			len(race.Intervals), race.Step, race.Start)
	}
	asked := 0
	for _, q := range source.queries {
		if q.Expr == "ready" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("%d queries, want one", asked)
	}
	source.fail = func(q refresh.Query) error {
		if q.Expr == "ready" {
			return errors.New("no kube-state-metrics")
		}
		return nil
	}
	e = entry(t, loop.Step(t.Context(), noon.Add(7*time.Hour)), "llama")
	loop.WaitForBackground()
	if made := e.Views.Look(noon); made.Ready.Len() > 0 || made.NextDay == nil {
		t.Errorf("without an answer %d replicas and %d hours", made.Ready.Len(), len(made.NextDay))
	}
}
