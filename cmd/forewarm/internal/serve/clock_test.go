package serve //nolint:testpackage // The clock of the loop.

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/kube/changes"
)

// A change ends a wait, but not within its first second, and what was notified twice ends one wait only.
func TestAChangeWakesTheLoop(t *testing.T) {
	c := wakingClock{wake: changes.NewSignal()}
	c.wake.Enqueue()
	c.wake.Enqueue()
	for _, wait := range []struct{ until, least, most time.Duration }{
		{5 * time.Minute, time.Second, time.Minute},
		{3 * time.Second, 3 * time.Second, time.Minute},
	} {
		began := time.Now()
		err := c.WaitUntil(t.Context(), began.Add(wait.until))
		if took := time.Since(began); err != nil || took < wait.least || took > wait.most {
			t.Errorf("%v after %s, want %s to %s", err, took, wait.least, wait.most)
		}
	}
}
