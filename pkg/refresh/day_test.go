package refresh_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// The next day is forecast beside the steps: at the start, every six hours, and every hour while somebody looks at it.
func TestTheNextDayFollowsWhoLooks(t *testing.T) {
	t.Parallel()
	loop, _ := newLoop(t, &demandSource{demand: daily}, fixedTargets{target("llama")})
	now := noon
	// after steps to a time after noon, and returns when the day that is known then begins, as one who is there at another time.
	after := func(since, looks time.Duration) time.Time {
		t.Helper()
		var e *snapshot.Entry
		for end := noon.Add(since); !now.After(end); now = now.Add(step) {
			e = entry(t, loop.Step(t.Context(), now), "llama")
			loop.WaitForDays()
		}
		hours := e.Day.Look(noon.Add(looks))
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
