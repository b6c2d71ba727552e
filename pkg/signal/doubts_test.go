package signal_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// A deleted pod is named, and so are GPUs whose profiling says nothing.
func TestDeletedPodsAndIdleProfiling(t *testing.T) {
	llama := signal.Target{Kind: "Deployment", Name: "llama"}
	preset, err := signal.Lookup("dcgm/gpu-busy")
	if err != nil {
		t.Fatal(err)
	}
	expr := render(t, "dcgm/gpu-busy", llama)
	const load = bothPods + `
  kube_pod_owner{namespace="ai",pod="llama-7d9-z",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x12 stale
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ai",pod="llama-7d9-a",UUID="GPU-1"} 0x120
  DCGM_FI_DEV_GPU_UTIL{namespace="ai",pod="llama-7d9-a",UUID="GPU-1"} 97x120
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{namespace="ai",pod="llama-7d9-b",UUID="GPU-2"} 0x120
  DCGM_FI_DEV_GPU_UTIL_RATIO{namespace="ai",pod="llama-7d9-b",UUID="GPU-2"} 0.03x120
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ai",pod="llama-7d9-z",UUID="GPU-3"} 0.7x120
`
	deleted, idle := signal.Deleted(expr, "ai", trust()), preset.IdleProfiling("ai", llama, trust())
	all := promexpr.Labeled(
		"doubt",
		map[string]string{"deleted": "count(" + deleted + ")", "profiling": idle, "none": ""},
	)
	evaluates(t, load,
		expectation{expr: deleted, at: "8m"}, expectation{expr: deleted, at: "14m", want: `{pod="llama-7d9-z"} 1`},
		expectation{expr: idle, want: "{} 1"},
		expectation{expr: all, at: "14m", want: "{doubt=\"deleted\"} 1\n  {doubt=\"profiling\"} 1"})
	if got := signal.Deleted("sum(up)", "ai", trust()); got != "" {
		t.Errorf("of a query without owners: %s", got)
	}
	if got := promexpr.Labeled("doubt", nil); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

// The rate of a preset is found in what its rendering adds to it.
func TestSamplesInWindowOfAPreset(t *testing.T) {
	expr := promexpr.SamplesInWindow(render(t, "tgi/arrivals", signal.Target{Kind: "Deployment", Name: "llama"}))
	load := "\n  tgi_request_count{namespace=\"ai\",pod=\"llama-7d9-a\"} 0+30x20\n"
	evaluatesEvery(t, "1m", load, expectation{expr: expr, want: "{} 2", at: "10m30s"})
}
