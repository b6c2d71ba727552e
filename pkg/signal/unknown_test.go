package signal_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// queues is what the two pods of Deployment llama hold, and one of its neighbour.
const queues = `
  tgi_queue_size{namespace="ai",pod="llama-7d9-a",instance="a"} 3x40
  tgi_queue_size{namespace="ai",pod="llama-7d9-b",instance="b"} 4x40
  tgi_queue_size{namespace="ai",pod="other-555-a",instance="c"} 8x40
  tgi_queue_size{namespace="ai",instance="no pod"} 16x40
`

// without drops the lines of a load that contain a text.
func without(load, text string) string {
	var kept []string
	for line := range strings.Lines(load) {
		if !strings.Contains(line, text) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// A pod that kube-state-metrics does not know may be the target's: there is no value, and none that is too small.
func TestNoValueWhilePodsAreUnknown(t *testing.T) {
	expr := render(t, "tgi/queue", signal.Target{Kind: "Deployment", Name: "llama"})
	unowned := signal.UnknownOwner(expr)
	for name, c := range map[string]struct{ missing, want, unknown string }{
		"all are known":                         {"nothing", "{} 7", ""},
		"a shard with one of the target's pods": {`kube_pod_owner{namespace="ai",pod="llama-7d9-b"`, "", "{} 1"},
		"a shard with a neighbour's pod":        {`kube_pod_owner{namespace="ai",pod="other-555-a"`, "", "{} 1"},
		"a shard with the target's ReplicaSet":  {`kube_replicaset_owner{namespace="ai",replicaset="llama-7d9"`, "", "{} 2"},
		"all of kube-state-metrics":             {`kube_`, "", "{} 3"},
		"a pod that reports nothing":            {`pod="llama-old-c"`, "{} 7", ""},
	} {
		known := without(owners, c.missing)
		for how, scraped := range map[string]string{
			"honoured": queues + known, "exported": queues + exported(known, "monitoring", "ksm-0"), "twice": queues + twice(known),
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				evaluates(t, scraped,
					expectation{expr: expr, want: c.want}, expectation{expr: unowned, want: c.unknown})
			})
		}
	}
	if got := signal.UnknownOwner("sum(up)"); got != "" {
		t.Errorf("of a query that does not ask kube-state-metrics: %s", got)
	}
}

// Without kube-state-metrics its last word counts for ten minutes.
func TestOwnersOutliveKubeStateMetrics(t *testing.T) {
	expr := render(t, "tgi/queue", signal.Target{Kind: "Deployment", Name: "llama"})
	evaluates(t, strings.ReplaceAll(owners, " 1x40", " 1x8 stale")+queues, // Gone at 2m15s.
		expectation{expr: expr, want: "{} 7", at: "11m45s"}, expectation{expr: expr, at: "12m15s"})
}

// In a rollout the rate of the new pod begins at 0, and that of the old one, which is deleted, ends a range later. Both
// are 30 in 15 s; PromQL extrapolates a series that ends, so the sum is a little more for a while.
func TestARolloutLeavesRatesAsTheyAre(t *testing.T) {
	const load = `
  kube_pod_owner{namespace="ai",pod="llama-1-old",owner_kind="ReplicaSet",owner_name="llama-1"} 1x20 stale
  kube_pod_owner{namespace="ai",pod="llama-2-new",owner_kind="ReplicaSet",owner_name="llama-2"} _x12 1x40
  kube_replicaset_owner{namespace="ai",replicaset="llama-1",owner_kind="Deployment",owner_name="llama"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="llama-2",owner_kind="Deployment",owner_name="llama"} _x12 1x40
  tgi_request_count{namespace="ai",pod="llama-1-old",instance="a"} 0+30x20 stale
  tgi_request_count{namespace="ai",pod="llama-2-new",instance="b"} _x20 0+30x40
`
	expr := render(t, "tgi/arrivals", signal.Target{Kind: "Deployment", Name: "llama"})
	var all []expectation
	for _, at := range []string{"4m", "5m", "5m15s", "5m30s", "6m", "6m30s", "7m", "7m15s", "8m"} {
		all = append(all, expectation{expr: "round(" + expr + ")", want: "{} 2", at: at})
	}
	evaluates(t, load, all...)
}
