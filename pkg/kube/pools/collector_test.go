package pools_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestGauges(t *testing.T) {
	w := newWorld()
	w.places.ready = 3
	w.stored.put(t, "h100", enforced+"budget: {idleGPUHoursPerDay: 60}\n")
	w.stored.put(t, "invalid", "{}")
	if n := testutil.CollectAndCount(w.leader); n != 0 {
		t.Errorf("%d gauges before a step", n)
	}
	w.run(t, 2)
	want, err := os.Open(filepath.Join("testdata", "gauges.prom"))
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close() //nolint:errcheck // Read only.
	if err := testutil.CollectAndCompare(w.leader, want, "forewarm_warm_pool_budget_gpu_seconds",
		"forewarm_warm_pool_held_chunks", "forewarm_warm_pool_ready_chunks",
		"forewarm_warm_pool_wanted_chunks"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(w.leader); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
