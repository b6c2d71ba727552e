package prometheus_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// partialOptions are the parameters of Thanos for partial answers. None of them makes the others unnecessary.
var partialOptions = []string{"", "?partial_response=false", "?partial_response=true"}

// halves starts a sidecar's Prometheus and a receiver, each with one of two pods. The pods' total is 7 and 5.
func halves(t *testing.T) (p *Prometheus, sidecar, receive *Thanos) {
	t.Helper()
	pod := func(name string, v float64) []Series {
		life := scraped{first: time.Second, last: 6 * time.Hour, interval: scrapeInterval}
		return []Series{life.series(nil, map[string]string{"__name__": "inflight", "pod": name},
			func(int) float64 { return v })}
	}
	p = StartPrometheus(t, "a")
	p.Write(t, pod("a", 7))
	receive = StartThanosReceive(t, "b")
	receive.Write(t, pod("b", 5))
	return p, StartThanosSidecar(t, p), receive
}

func newest() refresh.Query {
	q := workloadQuery(`sum(inflight)`)
	q.From = q.To.Add(-5 * time.Minute)
	return q
}

// wantTotal is the total of both pods, or an error that the source is unavailable. A part of it fails the test.
func wantTotal(t *testing.T, s *prometheus.Source, down bool) {
	t.Helper()
	got, err := s.Fetch(t.Context(), newest())
	switch {
	case !down && (err != nil || got.Values[0] != 12):
		t.Errorf("%v and error %v, want 12", got.Values, err)
	case down && err == nil:
		t.Errorf("%v is served while a store is down", got.Values)
	case down && (!errors.Is(err, series.ErrUnavailable) || errors.Is(err, series.ErrQuery) ||
		!strings.Contains(err.Error(), "check")):
		t.Errorf("error %v, want ErrUnavailable with advice", err)
	}
}

// A store that is down is an error as long as it is down, with every setting of partial answers, if Thanos' query was told
// never to forget it (--endpoint-strict). The same while the sidecar lives and its Prometheus does not.
func TestStoresThatAreDownAreNeverALowValue(t *testing.T) {
	p, sidecar, receive := halves(t)
	query := StartThanosQuery(t, 2, Endpoints("--endpoint-strict", sidecar, receive)...)
	every := func(when string, down bool) {
		for _, option := range partialOptions {
			t.Run(when+option, func(t *testing.T) { wantTotal(t, at(t, query.URL+option), down) })
		}
	}
	every("both are up", false)
	p.Kill()
	every("a Prometheus is down", true)
	sidecar.Kill()
	every("its sidecar, too", true)
	query.AwaitStores(t, 1)
	every("after Thanos noticed", true)
	receive.Kill()
	every("all are down", true)
}

// Without strict endpoints Thanos forgets a store at the first failed health check, and answers without a warning: no
// client can see that a part is missing. docs/stores.md warns of this. If this test fails, it need not any more.
func TestStoresThatThanosForgetsAreALowValue(t *testing.T) {
	_, sidecar, receive := halves(t)
	query := StartThanosQuery(t, 2, Endpoints("--endpoint", sidecar, receive)...)
	s := at(t, query.URL+"?partial_response=false")
	wantTotal(t, s, false)
	receive.Kill()
	query.AwaitStores(t, 1)
	if got := fetched(t, s, newest()); got.Values[0] != 7 {
		t.Errorf("%v after the store was forgotten, want the 7 of the other one", got.Values)
	}
}

// VictoriaMetrics replaces the points of the newest 30 s by the one before them (-search.latencyOffset), so a rise is seen
// late. With latency_offset in the URL they are the samples.
func TestStoresShowTheNewestSamples(t *testing.T) {
	victoria := StartVictoriaMetrics(t)
	const grid = 5 * time.Second
	begin := time.Now().Truncate(grid)
	rise := Series{Labels: map[string]string{"__name__": "inflight"}}
	for at := begin.Add(-10 * time.Minute); at.Before(begin.Add(5 * time.Minute)); at = at.Add(grid) {
		rise.Samples = append(rise.Samples, Sample{At: at.UnixMilli(), Value: float64(at.Unix())})
	}
	victoria.Write(t, []Series{rise})
	late := func(option string) time.Duration {
		now := time.Now().Truncate(grid)
		got := fetched(t, at(t, victoria.URL+option),
			refresh.Query{Expr: `sum(inflight)`, From: now.Add(-5 * time.Minute), To: now, Step: grid})
		return now.Sub(time.Unix(int64(got.Values[got.Len()-1]), 0))
	}
	if d := late(""); d < 20*time.Second || d > 35*time.Second {
		t.Errorf("the newest value is %v old, want about 30 s", d)
	}
	if d := late("?latency_offset=1ms"); d != 0 {
		t.Errorf("with latency_offset=1ms the newest value is %v old, want the newest sample", d)
	}
	_, err := at(t, victoria.URL+"?latency_offset=0").Fetch(t.Context(), newest())
	if !errors.Is(err, series.ErrQuery) {
		t.Errorf("with latency_offset=0: error %v, want ErrQuery: it must be at least 1ms", err)
	}
}

// Each store refuses more points than it allows, and takes the pieces of a Fetch: 10,000 points.
func TestStoresTakeThePiecesOfAFetch(t *testing.T) {
	allowed := [columns]int{11_000, 11_000, 11_000, 11_000, 30_000, 30_000}
	for column, url := range startStores(t, workload()) {
		t.Run(columnNames()[column], func(t *testing.T) {
			pieces := 0
			s := at(t, url)
			got, err := s.FetchInPieces(t.Context(), longQuery(`sum(long)`), 1_000_000, func(int) { pieces++ })
			if err != nil || pieces != 5 || got.Observed() != got.Len()-1 {
				t.Errorf("%d pieces with %d of %d points, error %v; want 5 pieces, and all points but the first",
					pieces, got.Observed(), got.Len(), err)
			}
			for points, want := range map[int]bool{allowed[column]: true, allowed[column] + 2: false} {
				if err := takes(t, url, points); (err == nil) != want {
					t.Errorf("%d points at once: error %v, want success: %t", points, err, want)
				}
			}
		})
	}
}

// takes asks a store for that many points at once.
func takes(t *testing.T, url string, points int) error {
	t.Helper()
	client, err := api.NewClient(api.Config{Address: url})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := client.(api.CloseIdler); ok {
		defer c.CloseIdleConnections()
	}
	_, _, _, err = v1.NewAPI(client).QueryRange(t.Context(), `sum(long)`,
		v1.Range{Start: storesEnd.Add(-time.Duration(points-1) * step), End: storesEnd, Step: step})
	return err
}
