package keda_test

import (
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// A trigger that selects a variant has its part, what a replica of it sustains, and is active while it has a part.
func TestATriggerOfAVariant(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	entry.Parts = []distribute.Part{{Name: "own", Capacity: 64, Value: 100}, {Name: "spot", Capacity: 128, Value: 0}}
	client := dial(t, snapshottest.Store(entry), snapshottest.Now)
	if got := mustValue(t, client, "forecast", "ready", "variant", "own"); got != 100 {
		t.Errorf("a part of %v, want 100", got)
	}
	for name, active := range map[string]bool{"own": true, "spot": false} {
		got, err := client.IsActive(t.Context(), ref("forecast", "ready", "variant", name))
		if err != nil || got.GetResult() != active {
			t.Errorf("%s: active %v (%v), want %v", name, got.GetResult(), err, active)
		}
	}
	spec, err := client.GetMetricSpec(t.Context(), ref("forecast", "ready", "variant", "spot"))
	if err != nil || spec.GetMetricSpecs()[0].GetTargetSizeFloat() != 128 {
		t.Errorf("%v (%v), want a target of 128", spec, err)
	}
	_, err = value(t, client, ref("forecast", "ready", "variant", "spott"))
	checkError(t, err, codes.InvalidArgument, `variant="spott" is unknown: valid names are own, spot`)
	_, err = value(t, client, ref("forecast", "ready", "variant", "spot", "late", "0.01"))
	checkError(t, err, codes.InvalidArgument, "variant cannot be combined with other keys")
}
