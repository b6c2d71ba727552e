package signal_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// A sum that counts one scrape several times is found by the targets that Prometheus records, whatever the label is called.
func TestCopies(t *testing.T) {
	up := func(expr string) (string, error) { return signal.Confine(expr, "namespace", "ai", "") }
	const pair = `
  up{namespace="ai",job="web",instance="10.0.0.1:80",my_own="a"} 1x40
  up{namespace="ai",job="web",instance="10.0.0.1:80",my_own="b"} 1x40
  requests_total{namespace="ai",job="web",instance="10.0.0.1:80",my_own="a",code="200"} 0+30x40
  requests_total{namespace="ai",job="web",instance="10.0.0.1:80",my_own="b",code="200"} 0+30x40
`
	const twin = `
  up{namespace="ai",job="web",instance="10.0.0.1:80"} 1x40
  up{namespace="ai",job="web-headless",instance="10.0.0.1:80"} 1x40
  requests_total{namespace="ai",job="web",instance="10.0.0.1:80",code="200"} 0+30x40
  requests_total{namespace="ai",job="web-headless",instance="10.0.0.1:80",code="200"} 0+30x40
`
	const single = `
  up{namespace="ai",job="web",instance="10.0.0.1:80"} 1x40
  up{namespace="ai",job="web",instance="10.0.0.2:80"} 1x40
  up{namespace="ai",job="kubelet",instance="10.0.0.1:80",metrics_path="/metrics"} 1x40
  up{namespace="ai",job="kubelet",instance="10.0.0.1:80",metrics_path="/metrics/cadvisor"} 1x40
  up{namespace="prod",job="web",instance="10.0.0.1:80"} 1x40
  requests_total{namespace="ai",job="web",instance="10.0.0.1:80",code="200"} 0+30x40
  requests_total{namespace="ai",job="web",instance="10.0.0.1:80",code="500"} 0+30x40
  requests_total{namespace="ai",job="web",instance="10.0.0.2:80",code="200"} 0+30x40
  requests_total{namespace="ai",job="pushed",code="200"} 0+30x40
  requests_total{namespace="ai",job="pushed too",code="200"} 0+30x40
`
	for name, c := range map[string]struct{ query, load, want string }{
		"an HA pair":             {`sum(rate(requests_total[2m]))`, pair, "{} 2"},
		"a headless twin":        {`sum(rate(requests_total[2m])) / 2`, twin, "{} 2"},
		"one scrape of each":     {`sum(rate(requests_total[2m]))`, single, "{} 1"},
		"nothing":                {`sum(rate(requests_total[2m]))`, "\n  other 1x40\n", ""},
		"summed in part":         {`sum(rate(requests_total[2m])) + max(limit)`, pair, "{} 2"},
		"in a sub-query":         {`max_over_time(sum(rate(requests_total[2m]))[5m:30s])`, pair, "{} 2"},
		"after the greatest one": {`sum(max without (my_own) (rate(requests_total[2m])))`, pair, "-"},
		"no sum":                 {`max(rate(requests_total[2m]))`, pair, "-"},
		"no query":               {`sum(`, pair, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			confined, err := up(c.query)
			if err != nil {
				confined = c.query
			}
			expr := signal.Copies(confined, up)
			if c.want == "-" {
				if expr != "" {
					t.Errorf("%s: want no expression", expr)
				}
				return
			}
			evaluates(t, c.load, expectation{expr: expr, want: c.want})
		})
	}
}

// How many scrapes the window of a rate has is the median of all servers: one that has just started is no sign of rare scrapes.
func TestSamplesInWindow(t *testing.T) {
	const load = `
  requests_total{pod="a"} 0+30x20
  requests_total{pod="b"} 0+30x20
  requests_total{pod="new"} _x10 0+30x10
  tgi_request_count{namespace="ai",pod="llama-7d9-a"} 0+30x20
`
	for query, c := range map[string]struct{ step, at, want string }{
		`sum(rate(requests_total[2m]))`:                                             {"1m", "10m30s", "{} 2"},
		`sum(increase(requests_total[5m]))`:                                         {"1m", "10m30s", "{} 5"},
		`sum(irate(requests_total[2m]))`:                                            {"", "4m", "{} 8"},
		`sum(rate(absent_total[2m]))`:                                               {"", "4m", ""},
		render(t, "tgi/arrivals", signal.Target{Kind: "Deployment", Name: "llama"}): {"1m", "10m30s", "{} 2"},
	} {
		evaluatesEvery(t, c.step, load, expectation{expr: signal.SamplesInWindow(query), want: c.want, at: c.at})
	}
	for _, query := range []string{`sum(up)`, `sum(`, `sum(rate(sum(x)[5m:1m]))`} {
		if got := signal.SamplesInWindow(query); got != "" {
			t.Errorf("%s: %s, want nothing", query, got)
		}
	}
}

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
	all := signal.Labeled(
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
	if got := signal.Labeled("doubt", nil); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}
