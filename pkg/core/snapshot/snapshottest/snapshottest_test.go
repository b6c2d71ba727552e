package snapshottest_test

import (
	"errors"
	"math"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// The fixtures must be consistent like the loop's entries; otherwise tests of the APIs prove nothing.
func TestEntriesHangTogether(t *testing.T) {
	for _, e := range snapshottest.EveryState() {
		answer, err := e.Answer(decide.Overrides{}, snapshottest.Now())
		if e.State.Serves() {
			if err != nil || answer.Value < e.Observed || math.IsNaN(answer.Value) {
				t.Errorf("%s: answer %+v, error %v, observed %g", e.Key, answer, err, e.Observed)
			}
		} else if !errors.Is(err, snapshot.ErrNotServing) {
			t.Errorf("%s: error %v, want %v", e.Key, err, snapshot.ErrNotServing)
		}
		if e.ReadyMessage() == "" {
			t.Errorf("%s has no message for its state", e.Key)
		}
		for _, c := range e.Candidates {
			checkWindows(t, c)
		}
	}
}

func checkWindows(t *testing.T, c snapshot.Candidate) {
	t.Helper()
	if (len(c.Windows) == 0) != (c.Error != "") {
		t.Errorf("%s: %d windows and error %q", c.Name, len(c.Windows), c.Error)
	}
	for i, w := range c.Windows {
		if i > 0 && w.Horizon <= c.Windows[i-1].Horizon {
			t.Errorf("%s: horizon %s after %s", c.Name, w.Horizon, c.Windows[i-1].Horizon)
		}
		for j := 1; j < len(w.Quantiles); j++ {
			if w.Quantiles[j] < w.Quantiles[j-1] {
				t.Errorf("%s at %s: quantiles cross: %v", c.Name, w.Horizon, w.Quantiles)
			}
		}
	}
}

func TestManyAreDistinct(t *testing.T) {
	if got := len(snapshottest.Snapshot(snapshottest.Many(25)...).Keys()); got != 25 {
		t.Errorf("%d keys, want 25", got)
	}
}
