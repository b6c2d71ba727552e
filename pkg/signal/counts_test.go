package signal_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// A target is in a preset's unit only where the metric adds up what the preset counts: not the queue alone, a mean, a rate.
func TestCounts(t *testing.T) {
	const running = "vllm:num_requests_running"
	for text, want := range map[string]bool{
		running: true, "vllm_num_requests_running": true,
		`sum(` + running + `{pod=~"a.*"}) + sum(vllm:num_requests_waiting)`: true,
		"vllm:num_requests_waiting":                                         false, "avg(" + running + ")": false, "sum(" + running + ") / 100": false,
		"sum(" + running + " offset 1h)": false, "sum(rate(" + running + "[1m]))": false,
		"sum(" + running + ") + sum(cpu)": false,
		"tgi_batch_current_size":          false, "kube_pod_owner": false, "s0-prometheus(": false,
	} {
		p, err := signal.Lookup("vllm/inflight")
		if got := p.Counts(text); got != want || err != nil {
			t.Errorf("vllm/inflight counts %s: %v, %v", text, got, err)
		}
	}
}
