package prometheus_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Why a store's value is another one. Those of VictoriaMetrics are exact: the same values follow from them.
const (
	begins = "a counter that begins in the window: Prometheus 2 extrapolates it further towards its zero, so it is never " +
		"lower"
	atStart = "a sample at the very beginning of a window counts in Prometheus 2, and not in Prometheus 3"
	short   = "VictoriaMetrics keeps a sample for 1.5 scrape intervals or a step, whichever is longer, and not for 5 minutes: " +
		"a pod with a missed scrape is missing in the sum"
	raw     = "VictoriaMetrics' rate takes the sample before the window, and extrapolates nothing"
	decimal = "VictoriaMetrics keeps 12 digits and more, not the bits"
	drops   = "VictoriaMetrics drops NaN, so the number before it counts for 5 minutes"
)

// equalities are the rows of the table, with what was measured.
func equalities(t *testing.T, samples []Series) []equality {
	t.Helper()
	short30 := startPrometheus3(t, samples, step)
	rate := func(name string, window, staleness time.Duration) fetcher {
		return victoriaRate{samples: samples, name: name, window: window, staleness: staleness}
	}
	const stale = 5 * time.Minute
	const http = "http_requests_total"
	return []equality{
		{
			"`vllm/inflight`", workloadQuery(preset(t, "vllm/inflight")),
			map[int]difference{victoriaColumn: {why: short, from: 0.5, differ: 13, lower: 13, exactly: short30}},
		},
		{"`dcgm/gpu-busy`", workloadQuery(preset(t, "dcgm/gpu-busy")), map[int]difference{
			prometheusColumn:    {why: "the order of a sum", rounds: true},
			victoriaColumn:      {why: short, from: 0.451, differ: 13, lower: 13, exactly: short30},
			victoriaStaleColumn: {why: decimal, rounds: true},
		}},
		{"`vllm/arrivals`", workloadQuery(preset(t, "vllm/arrivals")), map[int]difference{
			prometheusColumn:    {why: begins, to: 1.21, differ: 6},
			victoriaColumn:      {why: raw, to: 4.07, from: 0.945, differ: 718, lower: 340},
			victoriaStaleColumn: {why: raw, to: 4.07, from: 0.945, differ: 719, lower: 334},
		}},
		{"`sum(rate(c[2m]))`", workloadQuery(`sum(rate(http_requests_total[2m]))`), map[int]difference{
			prometheusColumn: {why: begins, to: 1.23, differ: 6},
			victoriaColumn: {
				why: raw, to: 3.74, from: 0.931, differ: 687, lower: 324, exactly: rate(http, 2*time.Minute, 0),
			},
			victoriaStaleColumn: {
				why: raw, to: 3.74, from: 0.931, differ: 689, lower: 325,
				exactly: rate(http, 2*time.Minute, stale),
			},
		}},
		{"`sum(rate(c[5m]))`", workloadQuery(`sum(rate(http_requests_total[5m]))`), map[int]difference{
			prometheusColumn: {why: begins, to: 1.23, differ: 18},
			victoriaColumn: {
				why: raw, to: 9.35, from: 0.97, differ: 701, lower: 305, exactly: rate(http, 5*time.Minute, 0),
			},
			victoriaStaleColumn: {
				why: raw, to: 9.35, from: 0.97, differ: 703, lower: 306,
				exactly: rate(http, 5*time.Minute, stale),
			},
		}},
		{
			"`sum(max_over_time(g[5m]))`", workloadQuery(`sum(max_over_time(vllm:num_requests_running[5m]))`),
			map[int]difference{},
		},
		{"`g` with NaN", workloadQuery(`sum(sometimes_nan)`), map[int]difference{
			victoriaStaleColumn: {why: drops, extra: 14},
		}},
		{"`g`, scraped on the grid", workloadQuery(`sum(aligned)`), map[int]difference{}},
		{"`sum(rate(c[2m]))`, on the grid", workloadQuery(`sum(rate(aligned_total[2m]))`), map[int]difference{
			prometheusColumn: {why: atStart, to: 1.02, from: 0.984, differ: 503, lower: 215},
			victoriaColumn: {
				why: raw, to: 4, from: 0.984, differ: 506, lower: 215,
				exactly: rate("aligned_total", 2*time.Minute, 0),
			},
			victoriaStaleColumn: {
				why: raw, to: 4, from: 0.984, differ: 506, lower: 215,
				exactly: rate("aligned_total", 2*time.Minute, stale),
			},
		}},
		{
			"`sum(avg_over_time(g[5m]))`, on the grid", workloadQuery(`sum(avg_over_time(aligned[5m]))`),
			map[int]difference{prometheusColumn: {why: atStart, from: 0.952, differ: 711, lower: 711}},
		},
		{"`sum(g)`, 14 days", longQuery(`sum(long)`), map[int]difference{}},
		{"`sum(rate(c[5m]))`, 14 days", longQuery(`sum(rate(long_total[5m]))`), map[int]difference{
			prometheusColumn: {why: begins, to: 1.23, differ: 8},
			victoriaColumn: {
				why: raw, to: 4.69, from: 0.998, differ: 38_694, lower: 19_338,
				exactly: rate("long_total", 5*time.Minute, 0),
			},
			victoriaStaleColumn: {
				why: raw, to: 4.69, from: 0.998, differ: 38_694, lower: 19_338,
				exactly: rate("long_total", 5*time.Minute, stale),
			},
		}},
	}
}

// Prometheus 2 includes the sample at the beginning of a window: its values are those of Prometheus 3 with a window that is
// a millisecond longer.
func TestStoresOfPrometheus2IncludeTheBeginningOfAWindow(t *testing.T) {
	samples := workload()
	p := StartPrometheus(t, "a")
	p.Write(t, samples)
	reference := startPrometheus3(t, samples, 5*time.Minute)
	two := fetched(t, at(t, p.URL), workloadQuery(`sum(avg_over_time(aligned[5m]))`))
	three := fetched(t, reference, workloadQuery(`sum(avg_over_time(aligned[5m]))`))
	longer := fetched(t, reference, workloadQuery(`sum(avg_over_time(aligned[300001ms]))`))
	if c := compare(three, two); c.equal == c.points {
		t.Skip("this Prometheus excludes it, as Prometheus 3 does")
	}
	if c := compare(longer, two); c.gaps+c.extra > 0 || c.relative > rounding {
		t.Errorf("with a window of 300.001 s: %s", c)
	}
}

// A lookback that is set is that of Thanos, and of a Prometheus that has the parameter: 2.42 does not. VictoriaMetrics
// ignores it.
func TestStoresTakeTheLookback(t *testing.T) {
	samples := workload()
	p := StartPrometheus(t, "a")
	p.Write(t, samples)
	sidecar := StartThanosSidecar(t, p)
	query := StartThanosQuery(t, 1, Endpoints("--endpoint-strict", sidecar)...)
	victoria := StartVictoriaMetrics(t, "-search.minStalenessInterval=5m")
	victoria.Write(t, samples)
	q := workloadQuery(`sum(vllm:num_requests_running)`)
	minute := fetched(t, startPrometheus3(t, samples, time.Minute), q)
	usual := fetched(t, startPrometheus3(t, samples, 5*time.Minute), q)
	if c := compare(usual, minute); c.lower == 0 {
		t.Fatal("the lookback changes nothing on these samples")
	}
	get := func(url string) forecast.Series {
		return fetched(t, at(t, url, func(c *prometheus.Config) { c.Lookback = time.Minute }), q)
	}
	if c := compare(minute, get(query.URL)); c.equal != c.points {
		t.Errorf("Thanos with a lookback of a minute: %s", c)
	}
	if c := compare(usual, get(victoria.URL)); c.equal != c.points {
		t.Errorf("VictoriaMetrics with a lookback of a minute: %s", c)
	}
	got := get(p.URL)
	if with, without := compare(minute, got), compare(usual, got); with.equal != with.points &&
		without.equal != with.points {
		t.Errorf("Prometheus with a lookback of a minute: %s; it differs from one of five, too: %s", with, without)
	}
}
