package prometheus_test

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// replica is what one Prometheus of a highly available pair scrapes of a target in six hours: at its own offset, and
// without the ten minutes in which it is down. Its labels are the target's and those given.
func replica(offset, down time.Duration, more map[string]string) []Series {
	life := scraped{first: offset, last: 6 * time.Hour, interval: scrapeInterval}
	if down > 0 {
		life.gaps = []gap{{from: down, length: 10 * time.Minute}}
	}
	seconds := func(i int) float64 { return offset.Seconds() + float64(i)*scrapeInterval.Seconds() }
	inflight := func(i int) float64 { return math.Round(100 + 50*math.Sin(seconds(i)/600)) }
	total := func(i int) float64 { return math.Floor(20*seconds(i) + 3000*math.Sin(seconds(i)/600)) }
	labels := map[string]string{"namespace": "inference", "pod": "llama-7d9-a"}
	maps.Copy(labels, more)
	random := rand.New(rand.NewPCG(1, 2))
	return []Series{
		life.series(random, labelled("inflight", labels), inflight),
		life.series(random, labelled("requests_total", labels), total),
	}
}

// The replicas of a pair scrape 7 s apart, and are down at other times.
const offsetA, offsetB, downA, downB = 2 * time.Second, 9 * time.Second, 80 * time.Minute, 200 * time.Minute

// checkPair holds the values of a deduplicated pair against those of each replica: each point is that of one of the two,
// there is no gap, and the rate is off by less than that share of the rate of a replica that was never down. It is off by
// more than 1 % at few points: in the five minutes around a change of the replica.
func checkPair(t *testing.T, pair fetcher, off float64, few int) {
	t.Helper()
	q := workloadQuery(`sum(inflight)`)
	q.From = q.From.Add(5 * time.Minute)
	got := fetched(t, pair, q)
	a := fetched(t, startPrometheus3(t, replica(offsetA, downA, nil), 5*time.Minute), q)
	b := fetched(t, startPrometheus3(t, replica(offsetB, downB, nil), 5*time.Minute), q)
	for i, v := range got.Values {
		if v != a.Values[i] && v != b.Values[i] {
			t.Errorf("%v after the start: %v, one replica has %v and the other %v", time.Duration(i)*step, v,
				a.Values[i], b.Values[i])
		}
	}
	q.Expr = `sum(rate(requests_total[5m]))`
	whole := fetched(t, startPrometheus3(t, replica(offsetA, 0, nil), 5*time.Minute), q)
	rate := fetched(t, pair, q)
	c, n := compare(whole, rate), 0
	for i, v := range rate.Values {
		if math.Abs(v/whole.Values[i]-1) > 0.01 {
			n++
		}
	}
	t.Logf("the rate, compared with a replica that was never down: %s; %d by more than 1 %%", c, n)
	if c.gaps+c.extra > 0 || c.relative > off || n > few {
		t.Errorf("the rate differs by more than %.3g %%, or at more than %d points by more than 1 %%: %s, %d points",
			100*off, few, c, n)
	}
}

// twice counts the points where a value is more than 1.5 times the other.
func twice(single, doubled forecast.Series) int {
	n := 0
	for i, v := range single.Values {
		if doubled.Values[i] > 1.5*v {
			n++
		}
	}
	return n
}

// Thanos' query with --query.replica-label has the values of one replica. Without deduplication a sum is doubled; that of a
// preset is not, for presets take the maximum over scrapes of the same pod.
func TestStoresDeduplicateAPairBehindThanos(t *testing.T) {
	var sidecars []*Thanos
	for name, samples := range map[string][]Series{
		"a": append(replica(offsetA, downA, nil), workload()...), "b": append(replica(offsetB, downB, nil), workload()...),
	} {
		p := StartPrometheus(t, name)
		p.Write(t, samples)
		sidecars = append(sidecars, StartThanosSidecar(t, p))
	}
	query := StartThanosQuery(t, 2, Endpoints("--endpoint", sidecars...)...)
	checkPair(t, at(t, query.URL), 0.093, 2)
	chain := StartThanosQuery(t, 2,
		append(Endpoints("--endpoint", sidecars...), "--deduplication.func=chain")...)
	checkPair(t, at(t, chain.URL), 0.031, 9)

	q := workloadQuery(`sum(inflight)`)
	q.From = q.From.Add(5 * time.Minute)
	single, doubled := fetched(t, at(t, query.URL), q), fetched(t, at(t, query.URL+"?dedup=false"), q)
	if n := twice(single, doubled); n < 680 {
		t.Errorf("without deduplication %d of %d points are doubled, want nearly all", n, single.Len())
	}
	q = workloadQuery(preset(t, "vllm/inflight"))
	if c := compare(fetched(t, at(t, query.URL), q),
		fetched(t, at(t, query.URL+"?dedup=false"), q)); c.equal != c.points {
		t.Errorf("a preset without deduplication: %s", c)
	}

	// A replica that is down for good is forgotten: the answer is whole again, from the other one.
	sidecars[1].Kill()
	query.AwaitStores(t, 1)
	if n := fetched(t, at(t, query.URL), q).Observed(); n != q.Points()-1 {
		t.Errorf("with one replica %d of %d points, want all but the first", n, q.Points())
	}
}

// VictoriaMetrics deduplicates samples of one series: the replicas must have the same labels. With a label for the
// replica a sum is doubled, with -dedup.minScrapeInterval, too.
func TestStoresDeduplicateAPairInVictoriaMetrics(t *testing.T) {
	flags := []string{"-dedup.minScrapeInterval=15s", "-search.minStalenessInterval=5m"}
	same := StartVictoriaMetrics(t, flags...)
	same.Write(t, replica(offsetA, downA, nil))
	same.Write(t, replica(offsetB, downB, nil))
	checkPair(t, at(t, same.URL), 0.004, 0)

	labelled := StartVictoriaMetrics(t, flags...)
	labelled.Write(t, replica(offsetA, downA, map[string]string{"replica": "a"}))
	labelled.Write(t, replica(offsetB, downB, map[string]string{"replica": "b"}))
	q := workloadQuery(`sum(inflight)`)
	q.From = q.From.Add(5 * time.Minute)
	single := fetched(t, at(t, same.URL), q)
	if n := twice(single, fetched(t, at(t, labelled.URL), q)); n < 640 {
		t.Errorf("with a label for the replica %d of %d points are doubled, want nearly all", n, single.Len())
	}
	q.Expr = `sum(max without (replica) (inflight))`
	if n := twice(single, fetched(t, at(t, labelled.URL), q)); n != 0 {
		t.Errorf("with max without (replica) %d of %d points are doubled", n, single.Len())
	}
}

// ofPrometheus3 is the engine of Prometheus 3 in this process, on the same samples: what stores are compared with. Its
// range selectors and its lookback exclude a sample at their very beginning, which those of Prometheus 2 include.
type ofPrometheus3 struct {
	engine *promql.Engine
	db     *tsdb.DB
}

func startPrometheus3(t *testing.T, all []Series, lookback time.Duration) ofPrometheus3 {
	t.Helper()
	options := tsdb.DefaultOptions()
	options.RetentionDuration = 0
	db, err := tsdb.Open(t.TempDir(), slog.New(slog.DiscardHandler), nil, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	Append(t, db.Appender, all)
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: lookback,
	})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return ofPrometheus3{engine: engine, db: db}
}

// Fetch evaluates a query on its grid.
func (o ofPrometheus3) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	out := q.Gaps()
	query, err := o.engine.NewRangeQuery(ctx, o.db, nil, q.Expr, q.From, q.To, q.Step)
	if err != nil {
		return out, err
	}
	defer query.Close()
	matrix, err := query.Exec(ctx).Matrix()
	if err != nil {
		return out, err
	}
	for _, s := range matrix {
		for _, point := range s.Floats {
			out.Values[(point.T-q.From.UnixMilli())/q.Step.Milliseconds()] = point.F
		}
	}
	return out, nil
}
