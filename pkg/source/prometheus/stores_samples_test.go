package prometheus_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/value"
)

// The samples of the stores end here, in the past of every machine that runs the tests. The workload is six hours long,
// the long series fourteen days.
var (
	storesEnd   = time.Date(2026, time.October, 20, 12, 0, 0, 0, time.UTC)
	storesBegin = storesEnd.Add(-6 * time.Hour)
	longBegin   = storesEnd.Add(-14 * 24 * time.Hour)
)

const scrapeInterval = 15 * time.Second

// gap is a time without samples. A failed scrape ends the series with a staleness marker; if the whole Prometheus was
// down, there is none.
type gap struct {
	from, length time.Duration
	marked       bool
}

// scraped is one target's life: when it is scraped, and what is missing. Times are after storesBegin.
type scraped struct {
	// first is the first scrape. A target is scraped at its own offset, so it is not on the grid of a query.
	first, last time.Duration
	interval    time.Duration
	jitter      time.Duration
	gaps        []gap
}

// series has the value of each scrape that succeeds, and the staleness markers: the target's values go on in a gap.
func (s scraped) series(random *rand.Rand, labels map[string]string, at func(i int) float64) Series {
	out := Series{Labels: labels}
	record := func(after time.Duration, v float64) {
		out.Samples = append(out.Samples, Sample{At: storesBegin.Add(after).UnixMilli(), Value: v})
	}
	i := 0
	for next := s.first; next < s.last; next += s.interval {
		when := next
		if s.jitter > 0 {
			when += time.Duration(random.Int64N(int64(s.jitter)))
		}
		v := at(i)
		i++
		missing := slices.IndexFunc(s.gaps, func(g gap) bool { return next >= g.from && next < g.from+g.length })
		switch {
		case missing < 0:
			record(when, v)
		case s.gaps[missing].marked && next < s.gaps[missing].from+s.interval:
			record(when, stale())
		}
	}
	if s.last < storesEnd.Sub(storesBegin) { // A target that is gone.
		record(s.last+s.interval, stale())
	}
	return out
}

func stale() float64 { return math.Float64frombits(value.StaleNaN) }

// podLives are the pods of Deployment llama: an ordinary one; one that begins and ends within the history; one that
// is scraped unevenly, with a missed scrape, and gaps of 2 and 8 minutes of each kind.
func podLives() map[string]scraped {
	const all = 6 * time.Hour
	return map[string]scraped{
		"llama-7d9-a": {first: 3217 * time.Millisecond, last: all, interval: scrapeInterval},
		"llama-7d9-b": {
			first: 100*time.Minute + 7411*time.Millisecond, last: 4 * time.Hour, interval: scrapeInterval,
		},
		"llama-7d9-c": {
			first: 1093 * time.Millisecond, last: all, interval: scrapeInterval, jitter: 9 * time.Second,
			gaps: []gap{
				{from: 20 * time.Minute, length: scrapeInterval},
				{from: 40 * time.Minute, length: 2 * time.Minute},
				{from: 60 * time.Minute, length: 2 * time.Minute, marked: true},
				{from: 260 * time.Minute, length: 8 * time.Minute},
				{from: 300 * time.Minute, length: 8 * time.Minute, marked: true},
			},
		},
	}
}

func labelled(name string, pairs map[string]string) map[string]string {
	out := maps.Clone(pairs)
	out["__name__"] = name
	return out
}

// workload is what is scraped of Deployment llama, in namespace inference, over six hours.
func workload() []Series {
	random := rand.New(rand.NewPCG(1, 2))
	var out []Series
	lives := podLives()
	for _, pod := range slices.Sorted(maps.Keys(lives)) {
		life := lives[pod]
		labels := map[string]string{
			"namespace": "inference", "pod": pod, "instance": pod + ":8000", "engine": "0", "model_name": "llama",
		}
		begin := int(life.first / scrapeInterval)
		inflight := func(i int) float64 { return math.Round(40 + 30*math.Sin(float64(begin+i)/97)) }
		waiting := func(i int) float64 { return max(0, math.Round(20*math.Sin(float64(begin+i)/41))) }
		count, passed := 0.0, 0.0
		counter := func(i int) float64 {
			if i > 0 && i%500 == 0 { // The container restarts.
				count = 0
			}
			count += inflight(i) / 4
			return math.Floor(count)
		}
		requests := func(i int) float64 {
			passed += math.Floor(3 + 2*math.Sin(float64(begin+i)/61))
			return passed
		}
		busy := func(i int) float64 { return 0.5 + 0.4321*math.Sin(float64(begin+i)/97) }
		gpu := map[string]string{
			"namespace": "inference",
			"pod":       pod,
			"UUID":      "GPU-" + pod,
			"gpu":       "0",
			"instance":  "n:9400",
		}
		out = append(out,
			life.series(random, labelled("vllm:num_requests_running", labels), inflight),
			life.series(random, labelled("vllm:num_requests_waiting", labels), waiting),
			life.series(random, labelled("vllm:time_to_first_token_seconds_count", labels), counter),
			life.series(random, labelled("http_requests_total", labels), requests),
			life.series(random, labelled("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu), busy),
			life.series(random, labelled("kube_pod_owner", map[string]string{
				"namespace": "inference", "pod": pod, "owner_kind": "ReplicaSet", "owner_name": "llama-7d9",
			}), one),
		)
	}
	return append(out, withoutPods(random)...)
}

func one(int) float64 { return 1 }

// withoutPods is the owner of the ReplicaSet, a counter that is scraped on the grid, a gauge with NaN, and the long
// series.
func withoutPods(random *rand.Rand) []Series {
	const all = 6 * time.Hour
	steady := scraped{first: 5 * time.Second, last: all, interval: 30 * time.Second}
	onGrid := scraped{last: all, interval: scrapeInterval}
	sometimesNaN := func(i int) float64 {
		if i%200 >= 195 {
			return math.NaN()
		}
		return float64(i % 50)
	}
	squares := func(i int) float64 { return float64(i*i/40 + 3*i) }
	long := scraped{first: longBegin.Sub(storesBegin) + 11*time.Second, last: all, interval: 30 * time.Second}
	day := func(i int) float64 { return math.Round(500 + 400*math.Sin(float64(i)*2*math.Pi/2880)) }
	total := 0.0
	counter := func(i int) float64 { total += day(i); return total }
	return []Series{
		steady.series(random, labelled("kube_replicaset_owner", map[string]string{
			"namespace": "inference", "replicaset": "llama-7d9", "owner_kind": "Deployment", "owner_name": "llama",
		}), one),
		onGrid.series(random, labelled("aligned_total", map[string]string{"namespace": "inference"}), squares),
		onGrid.series(random, labelled("aligned", map[string]string{"namespace": "inference"}), squares),
		onGrid.series(random, labelled("sometimes_nan", map[string]string{"namespace": "inference"}), sometimesNaN),
		long.series(random, labelled("long_total", map[string]string{"namespace": "inference"}), counter),
		long.series(random, labelled("long", map[string]string{"namespace": "inference"}), day),
	}
}
