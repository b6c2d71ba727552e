package hpa_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// An HPA that reads how many replicas may run keeps too many of them, unless its tolerance for scaling down is 0: here the number falls by
// one replica after another.
func TestReplicasKeptOnSpareGPUs(t *testing.T) {
	for _, c := range []struct {
		replicas int32
		// most are the most replicas too many that are kept with the default tolerance.
		most int32
	}{{5, 0}, {20, 2}, {50, 5}} {
		for _, exact := range []bool{false, true} {
			if got := keptTooMany(t, c.replicas, exact); got != c.most && !exact || exact && got != 0 {
				t.Errorf("%d replicas, tolerance 0: %v: %d too many are kept, want %d", c.replicas, exact, got, c.most)
			}
		}
	}
}

// keptTooMany returns the most replicas above the value in a row of syncs in which it falls from a number of replicas to 1.
func keptTooMany(t *testing.T, from int32, exact bool) int32 {
	t.Helper()
	spec := hpa.Spec{
		Min: 1, Max: 100, Cluster: hpa.DefaultCluster(),
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()},
		Metrics:  []hpa.Metric{{Name: "h100-spare", Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
	}
	spec.Behavior.Down.Stabilization = 0
	if exact {
		spec.Behavior.Down.Tolerance = new(0.0)
	}
	c, err := hpa.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	most, running, now := int32(0), from, time.Unix(1e9, 0)
	for may := from; may >= 1; may-- {
		now = now.Add(15 * time.Second)
		running = c.Sync(now, hpa.Observed{
			Replicas: running, Existing: running, Readings: []hpa.Reading{{Values: []int64{1000 * int64(may)}}},
		}).Replicas
		most = max(most, running-may)
	}
	return most
}
