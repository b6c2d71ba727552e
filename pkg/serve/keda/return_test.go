package keda_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// A rise that came at this time of an earlier day activates the workload, although the forecast does not contain it.
func TestAReturnOfAnEarlierDayActivates(t *testing.T) {
	for _, due := range []bool{false, true} {
		entry := snapshottest.Ready(snapshottest.Key("ready"))
		entry.Observed, entry.Decision, entry.ReturnDue = 0, decide.Decision{}, snapshottest.Now().Add(time.Minute)
		if due {
			entry.ReturnDue = snapshottest.Now()
		}
		client := dial(t, snapshottest.Store(entry), snapshottest.Now)
		if got, err := client.IsActive(t.Context(), ref("forecast", "ready")); err != nil || got.GetResult() != due {
			t.Errorf("active %v (%v), want %v", got.GetResult(), err, due)
		}
		got, err := client.IsActive(t.Context(), ref("forecast", "ready", "activation", "5"))
		if err != nil || got.GetResult() {
			t.Errorf("with an activation, active %v (%v)", got.GetResult(), err)
		}
	}
}
