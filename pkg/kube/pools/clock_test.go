package pools_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// The machine's clock is set wrong and right again: no more is held than the pool may hold, nothing is given back for it, and
// once it is right the status is written, what fails is tried again, and members are covered.
func TestClockStepsOfAController(t *testing.T) {
	for _, off := range []time.Duration{
		time.Second, -time.Second, time.Hour, -time.Hour, 365 * 24 * time.Hour, -365 * 24 * time.Hour,
	} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fails: %v", off, fails), func(t *testing.T) {
				w := newWorld()
				w.stored.put(t, "h100", enforced)
				w.places.ready = 8
				w.run(t, 8)
				if fails {
					w.places.fail = errors.New("no answer")
					w.loads["llama"].demand = 80
				}
				w.now = w.now.Add(off)
				w.run(t, 60)
				if s := w.status("h100"); s.Held > 8 || s.Wanted > 8 {
					t.Errorf("with a wrong clock %+v", s)
				}
				w.now = w.now.Add(-off)
				w.places.fail = nil
				w.loads["llama"].demand = 70
				writes, looks := w.stored.writes, w.places.looks
				w.run(t, 16)
				s := w.status("h100")
				if w.stored.writes-writes < 2 || w.stored.writes-writes > 16 || w.places.looks-looks < 12 {
					t.Errorf("%d writes and %d looks in 16 steps", w.stored.writes-writes, w.places.looks-looks)
				}
				if w.places.held["h100"].Base < 4 || s.Held < 4 || s.Held > 8 {
					t.Errorf("%+v is held: %+v", w.places.held, s)
				}
				expect(t, s, v1alpha1.PoolConditionReady, "True Ready", "")
				w.run(t, 80)
				for _, c := range w.status("h100").Covered {
					if c.Since.After(w.now.Add(5 * time.Minute)) {
						t.Errorf("covered from %s on, it is %s", c.Since, w.now)
					}
				}
				if len(w.status("h100").Covered) == 0 {
					t.Error("nothing is covered")
				}
			})
		}
	}
}

// jumping is a clock that is at once at the time that is waited for, until its end.
type jumping struct{ now, end time.Time }

func (j *jumping) Now() time.Time { return j.now }

func (j *jumping) WaitUntil(_ context.Context, until time.Time) error {
	if until.After(j.end) {
		return errors.New("the end")
	}
	j.now = until
	return nil
}

// What changed is held once more five seconds later, when its pods exist, and at every step while chunks are missing.
func TestNewPodsDoNotWaitForAStep(t *testing.T) {
	for _, c := range []struct {
		about          string
		ready          int
		runs           time.Duration
		holds, atSteps int
	}{
		{"in the step", 0, time.Second, 1, 1},
		{"five seconds later", 0, 5 * time.Second, 2, 1},
		{"at the next step, where chunks are missing", 0, step, 3, 2},
		{"and not where none are", 8, 3 * step, 2, 4},
	} {
		t.Run(c.about, func(t *testing.T) {
			w := newWorld()
			w.stored.put(t, "h100", enforced)
			w.places.ready = c.ready
			w.publish()
			w.leader.Run(t.Context(), &jumping{w.now, w.now.Add(c.runs)})
			if w.places.holds != c.holds {
				t.Errorf("held %d times in %s, want %d", w.places.holds, c.runs, c.holds)
			}
			// Before the first step the pool is not marked: nothing is observed.
			if w.places.looks != c.atSteps-1 {
				t.Errorf("observed %d times in %s, want %d", w.places.looks, c.runs, c.atSteps-1)
			}
		})
	}
}
