package demo //nolint:testpackage // The clock is nobody else's.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC)

func TestTheClockRunsFasterThanLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, c := time.Now(), startClock(noon, 60)
		if err := c.WaitUntil(t.Context(), noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(life).Round(time.Millisecond); took != time.Second {
			t.Errorf("a minute takes %v of life, want 1s", took)
		}
		if now := c.Now(); now.Before(noon.Add(time.Minute)) || now.After(noon.Add(61*time.Second)) {
			t.Errorf("it is %v after a minute", now)
		}
		if err := c.WaitUntil(t.Context(), noon); err != nil || time.Since(life) > 2*time.Second {
			t.Errorf("waiting for what is past: %v after %v", err, time.Since(life))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.WaitUntil(ended, noon.Add(time.Hour)); err == nil {
			t.Error("the wait goes on after its context")
		}
	})
}

// A loop that steps at each multiple of a step must not wake before it, at any speed.
func TestTheClockIsNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, speed := range []float64{1, 7, 60, 333.3, 600} {
			c := startClock(noon, speed)
			for i := range 200 {
				next := noon.Add(time.Duration(i) * 1001 * time.Millisecond)
				if err := c.WaitUntil(t.Context(), next); err != nil || c.Now().Before(next) {
					t.Fatalf("at speed %v it is %v, waited for %v (%v)", speed, c.Now(), next, err)
				}
			}
		}
	})
}
