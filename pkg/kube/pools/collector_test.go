package pools_test

import (
	"strings"
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
	const want = `
# HELP forewarm_warm_pool_budget_gpu_seconds GPU-seconds that may stand idle in a day (UTC).
# TYPE forewarm_warm_pool_budget_gpu_seconds gauge
forewarm_warm_pool_budget_gpu_seconds{namespace="team",pool="h100"} 216000
# HELP forewarm_warm_pool_held_chunks Chunks requested from the actuator; 0 in mode Recommend.
# TYPE forewarm_warm_pool_held_chunks gauge
forewarm_warm_pool_held_chunks{namespace="team",pool="h100"} 4
# HELP forewarm_warm_pool_ready_chunks Held chunks whose capacity is there.
# TYPE forewarm_warm_pool_ready_chunks gauge
forewarm_warm_pool_ready_chunks{namespace="team",pool="h100"} 3
# HELP forewarm_warm_pool_wanted_chunks Chunks that the members' forecasts ask for, within the pool's bounds.
# TYPE forewarm_warm_pool_wanted_chunks gauge
forewarm_warm_pool_wanted_chunks{namespace="team",pool="h100"} 4
`
	if err := testutil.CollectAndCompare(w.leader, strings.NewReader(want), "forewarm_warm_pool_budget_gpu_seconds",
		"forewarm_warm_pool_held_chunks", "forewarm_warm_pool_ready_chunks",
		"forewarm_warm_pool_wanted_chunks"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(w.leader); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
