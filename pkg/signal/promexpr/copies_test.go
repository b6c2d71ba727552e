package promexpr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// evaluates compares what an expression yields at a time of a load, which begins with the step of its samples.
func evaluates(t *testing.T, load, at, expr, want string) {
	t.Helper()
	script := "load " + strings.ReplaceAll(
		load,
		"\n\n",
		"\n",
	) + fmt.Sprintf(
		"\neval instant at %s %s\n  %s\n",
		at,
		expr,
		want,
	)
	promqltest.RunTest(t, script, promqltest.NewTestEngine(t, false, 0, 1e6))
}

// A sum that counts one scrape several times is found by the targets that Prometheus records, whatever the label is called.
func TestCopies(t *testing.T) {
	up := func(expr string) (string, error) { return promexpr.Confine(expr, "namespace", "ai", "") }
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
			expr := promexpr.Copies(confined, up)
			if c.want == "-" {
				if expr != "" {
					t.Errorf("%s: want no expression", expr)
				}
				return
			}
			evaluates(t, "15s"+c.load, "5m", expr, c.want)
		})
	}
}

// How many scrapes the window of a rate has is the median of all servers: one that has just started is no sign of rare scrapes.
func TestSamplesInWindow(t *testing.T) {
	const load = `
  requests_total{pod="a"} 0+30x20
  requests_total{pod="b"} 0+30x20
  requests_total{pod="new"} _x10 0+30x10
`
	for query, c := range map[string]struct{ step, at, want string }{
		`sum(rate(requests_total[2m]))`:     {"1m", "10m30s", "{} 2"},
		`sum(increase(requests_total[5m]))`: {"1m", "10m30s", "{} 5"},
		`sum(irate(requests_total[2m]))`:    {"15s", "4m", "{} 8"},
		`sum(rate(absent_total[2m]))`:       {"15s", "4m", ""},
	} {
		evaluates(t, c.step+load, c.at, promexpr.SamplesInWindow(query), c.want)
	}
	for _, query := range []string{`sum(up)`, `sum(`, `sum(rate(sum(x)[5m:1m]))`} {
		if got := promexpr.SamplesInWindow(query); got != "" {
			t.Errorf("%s: %s, want nothing", query, got)
		}
	}
}
