package run_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/pkg/run"
)

func wait(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestPartsStopTogether(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		end   time.Duration
		parts []run.Part
		want  string
	}{
		{"the context ends: no error", time.Second, []run.Part{{Name: "a", Run: wait}, {Name: "b", Run: wait}}, ""},
		{
			"a part's error while stopping is no failure", time.Second,
			[]run.Part{{Name: "a", Run: func(ctx context.Context) error { <-ctx.Done(); return broken }}},
			"",
		},
		{
			"one fails: the others stop", time.Hour,
			[]run.Part{{Name: "a", Run: wait}, {Name: "b", Run: func(context.Context) error { return broken }}},
			"b: broken",
		},
		{
			"one ends: the others stop", time.Hour,
			[]run.Part{{Name: "a", Run: wait}, {Name: "b", Run: func(context.Context) error { return nil }}},
			"b stopped unexpectedly",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.end)
				defer cancel()
				var text string
				if err := run.Parts(ctx, slog.New(slog.DiscardHandler), c.parts...); err != nil {
					text = err.Error()
				}
				if text != c.want {
					t.Errorf("error %q, want %q", text, c.want)
				}
			})
		})
	}
}

func TestClockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock run.WallClock
		begun := clock.Now()
		if err := clock.WaitUntil(t.Context(), begun.Add(time.Minute)); err != nil ||
			clock.Now().Sub(begun) != time.Minute {
			t.Errorf("waited %v (%v), want a minute", clock.Now().Sub(begun), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := clock.WaitUntil(ctx, clock.Now().Add(time.Hour))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if err := clock.WaitUntil(t.Context(), begun); err != nil {
			t.Errorf("what is over gives %v", err)
		}
	})
}
