package pools_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// testRefusedStatuses has the API server refuse the statuses of another tenant's pools: too large for etcd, by an admission policy, and by a
// schema. The status of the namespace default's pool follows the demand.
func testRefusedStatuses(t *testing.T, s *poolScene) {
	t.Helper()
	evil := s.Refused(t, "WarmPool", "evil", 6, map[string]any{
		"max": int64(8), "members": []any{map[string]any{"forecast": "none"}}, "mode": "Enforce",
		"chunk": map[string]any{"podTemplate": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "c", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": int64(1)}},
		}}}}},
	})
	s.pool("h100", ofLlama)
	w := s.watch(s.Config, quiet())
	held, err := pools.NewDispatcher(s.Config, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	log := &processtest.LogBuffer{}
	keeper := pools.NewController(pools.Config{}, pools.Dependencies{
		Pools: w, Snapshots: &s.snapshots, Workloads: s.loads, Actuator: held,
	}, slog.New(slog.NewTextHandler(log, nil)))
	apiservertest.Eventually(
		t,
		20*time.Second,
		func() string { return apiservertest.Differs("pools", len(w.List()), len(evil)+1) },
	)
	now := time.Now()
	for i := range 20 {
		s.loads["llama"] = &load{demand: float64(60 + 10*(i%2)), target: 10, placed: 2}
		s.publish()
		before := s.MustKubectl(t, "", "get", "warmpool", "h100", "-o", "jsonpath={.metadata.resourceVersion}")
		for range 4 { // A minute.
			now = now.Add(15 * time.Second)
			if err := keeper.Step(t.Context(), now); err != nil && strings.Contains(err.Error(), "h100") {
				t.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if after := s.MustKubectl(
			t,
			"",
			"get",
			"warmpool",
			"h100",
			"-o",
			"jsonpath={.metadata.resourceVersion}",
		); after == before {
			t.Errorf("minute %d: the status was not written", i)
		}
	}
	for _, name := range evil {
		if n := strings.Count(log.String(), fmt.Sprintf("object=evil/%s ", name)); n != 1 {
			t.Errorf("%s was told %d times", name, n)
		}
	}
}
