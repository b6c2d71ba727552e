package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

type fetcher interface {
	Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error)
}

// The columns of the table.
const (
	prometheusColumn = iota
	sidecarColumn
	receiveColumn
	gatewayColumn
	victoriaColumn
	victoriaStaleColumn
	columns
)

// startStores runs every store on the same samples. It returns their URLs in the order of the columns.
func startStores(t *testing.T, samples []Series) [columns]string {
	t.Helper()
	victoria := StartVictoriaMetrics(t)
	stale := StartVictoriaMetrics(t, "-search.minStalenessInterval=5m")
	receive := StartThanosReceive(t, "a")
	p := StartPrometheus(t, "a")
	sidecar, gateway := StartThanosSidecar(t, p), StartThanosStore(t, "a", samples)
	victoria.Write(t, samples)
	stale.Write(t, samples)
	receive.Write(t, samples)
	p.Write(t, samples)
	behind := func(store *Thanos) string {
		return StartThanosQuery(t, 1, Endpoints("--endpoint-strict", store)...).URL
	}
	return [columns]string{
		prometheusColumn:    p.URL,
		sidecarColumn:       behind(sidecar),
		receiveColumn:       behind(receive),
		gatewayColumn:       behind(gateway),
		victoriaColumn:      victoria.URL,
		victoriaStaleColumn: stale.URL,
	}
}

// columnNames are the stores of the columns.
func columnNames() [columns]string {
	return [columns]string{"Prometheus", "sidecar", "receive", "store", "VictoriaMetrics", "with staleness"}
}

// at is a source on a store's URL.
func at(t *testing.T, url string, configure ...func(*prometheus.Config)) *prometheus.Source {
	t.Helper()
	cfg := prometheus.Config{URL: url}
	for _, c := range configure {
		c(&cfg)
	}
	s, err := prometheus.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// answersTogether checks that a store answers queries together as each alone, to the bit: of a workload and of one that is not there, and
// sums of a selector.
func answersTogether(t *testing.T, from *prometheus.Source) {
	t.Helper()
	var queries []refresh.Query
	for _, expr := range []string{
		preset(t, "vllm/inflight"), presetOf(t, "vllm/inflight", "missing"),
		preset(t, "vllm/arrivals"), presetOf(t, "vllm/arrivals", "missing"),
		`sum(rate(kube_pod_owner{namespace="inference"}[5m]))`, `sum(vllm:num_requests_running{namespace="inference"})`,
	} {
		q := workloadQuery(expr)
		q.From = q.To.Add(-time.Hour)
		queries = append(queries, q)
	}
	batches := from.Batches(queries)
	if len(batches) != 3 {
		t.Fatalf("%d batches, want 3", len(batches))
	}
	for _, batch := range batches {
		answers, err := from.FetchBatch(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range answers {
			want, wantErr := from.Fetch(t.Context(), batch[i])
			if wantErr != nil || a.Err != nil {
				if !errors.Is(wantErr, series.ErrNoSeries) || !errors.Is(a.Err, series.ErrNoSeries) {
					t.Errorf("together %v, alone %v: %s", a.Err, wantErr, batch[i].Expr)
				}
				continue
			}
			if c := compare(want, a.Series); c.equal != c.points || c.points == 0 {
				t.Errorf("together and alone: %s: %s", c, batch[i].Expr)
			}
		}
	}
}

func preset(t *testing.T, name string) string {
	t.Helper()
	return presetOf(t, name, "llama")
}

func presetOf(t *testing.T, name, workload string) string {
	t.Helper()
	p, err := signal.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	expr, err := p.Render("inference", signal.Target{Kind: "Deployment", Name: workload}, signal.DefaultTrust())
	if err != nil {
		t.Fatal(err)
	}
	return expr
}

// workloadQuery is over the six hours at the step of 30 s: 721 points.
func workloadQuery(expr string) refresh.Query {
	return refresh.Query{Namespace: "inference", Expr: expr, From: storesBegin, To: storesEnd, Step: step}
}

// longQuery is over fourteen days: 40,321 points, five requests.
func longQuery(expr string) refresh.Query {
	q := workloadQuery(expr)
	q.From = longBegin
	return q
}

func fetched(t *testing.T, from fetcher, q refresh.Query) forecast.Series {
	t.Helper()
	got, err := from.Fetch(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// equality is a row of the table.
type equality struct {
	name  string
	query refresh.Query
	// stores are the columns that are not bit-equal to the engine of Prometheus 3.
	stores map[int]difference
}

// Every store answers the queries of the presets, and others, as the engine of Prometheus 3 does on the same samples: bit
// for bit, or as far from it as the bound of a difference that is explained. The test prints the table of
// docs/stores.md.
func TestStoresGiveTheSameValues(t *testing.T) {
	samples := workload()
	stores := startStores(t, samples)
	reference := startPrometheus3(t, samples, 5*time.Minute)
	rows := equalities(t, samples)
	var table strings.Builder
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			want := fetched(t, reference, row.query)
			fmt.Fprintf(&table, "| %s | %d |", row.name, want.Len())
			for column, url := range stores {
				t.Run(columnNames()[column], func(t *testing.T) {
					got := fetched(t, at(t, url), row.query)
					c, allowed := compare(want, got), row.stores[column]
					fmt.Fprintf(&table, " %s |", c)
					allowed.check(t, c)
					if allowed.exactly == nil {
						return
					}
					c = compare(fetched(t, allowed.exactly, row.query), got)
					if c.gaps+c.extra > 0 || c.relative > rounding {
						t.Errorf("it is not explained by: %s: %s", allowed.why, c)
					}
				})
			}
			table.WriteByte('\n')
		})
	}
	for column, url := range stores {
		t.Run("together/"+columnNames()[column], func(t *testing.T) { answersTogether(t, at(t, url)) })
	}
	t.Logf(
		"%s, %s, %s\n| query | points | Prometheus | Thanos, sidecar | Thanos, receive | Thanos, store | VictoriaMetrics | "+
			"-search.minStalenessInterval=5m |\n%s",
		Version(t, "prometheus"),
		Version(t, "thanos"),
		Version(t, "victoria-metrics"),
		table.String(),
	)
}
