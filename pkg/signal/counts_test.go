package signal_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// A target is in a preset's unit only where the metric adds up what the preset counts: not the queue alone, a mean, a rate or a part.
func TestCounts(t *testing.T) {
	const running = "vllm:num_requests_running"
	for _, c := range []struct {
		preset, text string
		want         bool
	}{
		{"vllm", running, true},
		{"vllm", "vllm_num_requests_running", true},
		{"vllm", `sum(` + running + `{pod=~"a.*"}) + sum(vllm:num_requests_waiting)`, true},
		{"vllm", "vllm:num_requests_waiting", false},
		{"vllm", "avg(" + running + ")", false},
		{"vllm", "sum(" + running + ") / 100", false},
		{"vllm", "sum(" + running + " offset 1h)", false},
		{"vllm", "sum(rate(" + running + "[1m]))", false},
		{"vllm", "sum(" + running + ") + sum(cpu)", false},
		{"vllm", "kube_pod_owner", false},
		{"vllm", "s0-prometheus(", false},
		{"gateway", "llm_d_epp_request_running", true},
		{"kserve", "revision_queue_depth", true},
	} {
		p, err := signal.Lookup(c.preset + "/inflight")
		if got := p.Counts(c.text); got != c.want || err != nil {
			t.Errorf("%s/inflight counts %s: %v, %v", c.preset, c.text, got, err)
		}
	}
}
