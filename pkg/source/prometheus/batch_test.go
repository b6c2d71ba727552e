package prometheus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// evaluating is a server with samples since origin, and the number of range queries that it has answered. change may change an answer.
func evaluating(
	t *testing.T,
	load string,
	change func(answer string) string,
) (handler http.Handler, answered *atomic.Int64) {
	t.Helper()
	storage := promqltest.LoadedStorage(t, load)
	t.Cleanup(func() {
		if err := storage.Close(); err != nil {
			t.Error(err)
		}
	})
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	answered = new(atomic.Int64)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answered.Add(1)
		// promqltest's samples begin at the epoch.
		at := func(name string) time.Time { return time.Unix(int64(seconds(t, r, name))-origin.Unix(), 0) }
		q, err := engine.NewRangeQuery(r.Context(), storage, nil, r.FormValue("query"), at("start"), at("end"),
			time.Duration(seconds(t, r, "step"))*time.Second)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			send(w, `{"status":"error","errorType":"bad_data","error":"`+strings.ReplaceAll(err.Error(), `"`, "'")+`"}`)
			return
		}
		defer q.Close()
		result := q.Exec(r.Context())
		if result.Err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			send(
				w,
				`{"status":"error","errorType":"execution","error":"`+strings.ReplaceAll(
					result.Err.Error(),
					`"`,
					"'",
				)+`"}`,
			)
			return
		}
		matrix, err := result.Matrix()
		if err != nil {
			t.Error(err)
		}
		for i := range matrix {
			for j := range matrix[i].Floats {
				matrix[i].Floats[j].T += origin.UnixMilli()
			}
		}
		body, err := json.Marshal(map[string]any{
			"status": "success", "data": map[string]any{"resultType": "matrix", "result": matrix},
		})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		send(w, change(string(body)))
	}), answered
}

func unchanged(answer string) string { return answer }

// demandOf are samples of so many models.
func demandOf(models int) string {
	var load strings.Builder
	load.WriteString("load 30s\n")
	for i := range models {
		fmt.Fprintf(&load, "  demand{model=\"%d\"} %d+0.1x20\n", i, i)
	}
	return load.String()
}

// queriesOf are queries of so many models, of the same range.
func queriesOf(models int) []refresh.Query {
	out := make([]refresh.Query, models)
	for i := range out {
		out[i] = query(10)
		out[i].Expr = fmt.Sprintf(`sum(demand{model="%d"})`, i)
	}
	return out
}

// A hundred queries that differ by a label are two requests, whose answers are those to each alone, an absent series too.
func TestQueriesThatDifferByALabelAreOneRequest(t *testing.T) {
	handler, answered := evaluating(t, demandOf(99), unchanged)
	s := source(t, handler)
	queries := queriesOf(100)
	got := map[string]refresh.Answer{}
	for _, batch := range s.Batches(append(queries, queries[7], query(10))) {
		answers, err := s.FetchBatch(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range answers {
			got[batch[i].Expr] = a
		}
	}
	if n := answered.Load(); n != 2 || len(got) != 101 {
		t.Fatalf("%d requests for %d queries, want 2 for 101", n, len(got))
	}
	for _, q := range queries {
		want, wantErr := s.Fetch(t.Context(), q)
		a := got[q.Expr]
		if !slices.Equal(a.Series.Values, want.Values) || fmt.Sprint(a.Err) != fmt.Sprint(wantErr) ||
			errors.Is(wantErr, series.ErrNoSeries) != errors.Is(a.Err, series.ErrNoSeries) {
			t.Errorf("%s: together %v, %v; alone %v, %v", q.Expr, a.Series.Values, a.Err, want.Values, wantErr)
		}
	}
}

// ofABatch changes only answers to several queries.
func ofABatch(change func(string) string) func(string) string {
	return func(answer string) string {
		if strings.Contains(answer, "forewarm_part") {
			return change(answer)
		}
		return answer
	}
}

// Where a server does not answer together what it answers alone, or answers something else, fewer are asked together for a while.
func TestFewerAreAskedTogetherAfterAFailure(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"a series of another query": func(a string) string { return strings.Replace(a, `"forewarm_part":"`, `"forewarm_part":"x`, 1) },
		"a series without the label": func(a string) string {
			return strings.Replace(a, `"forewarm_part":"`, `"forewarm":"`, 1)
		},
		"a further label":       func(a string) string { return strings.Replace(a, `"forewarm_part":`, `"pod":"p","forewarm_part":`, 1) },
		"a part of the stores":  func(a string) string { return `{"isPartial":true,` + a[1:] },
		"a warning of a store":  func(a string) string { return `{"warnings":["store-1 is down"],` + a[1:] },
		"no JSON":               func(string) string { return "upstream" },
		"an answer cut short":   func(a string) string { return a[:len(a)/2] },
		"a sample off the grid": func(a string) string { return strings.Replace(a, "0,", "1,", 1) },
		"more series than asked": func(a string) string {
			const one = `{"metric":{"forewarm_part":"y"},"values":[]},`
			return strings.Replace(a, `"result":[`, `"result":[`+strings.Repeat(one, 80), 1)
		},
	} {
		handler, _ := evaluating(t, demandOf(32), ofABatch(change))
		s := source(t, handler)
		together := func() []int {
			var sizes []int
			for _, batch := range s.Batches(queriesOf(32)) {
				sizes = append(sizes, len(batch))
			}
			return sizes
		}
		fail := func() {
			answers, err := s.FetchBatch(t.Context(), s.Batches(queriesOf(32))[0])
			if !errors.Is(err, refresh.ErrNotTogether) {
				t.Errorf("%s: %v, %v", name, answers, err)
			}
		}
		if got := together(); !slices.Equal(got, []int{32}) {
			t.Fatalf("batches of %v, want 32", got)
		}
		fail()
		if got := together(); !slices.Equal(got, []int{8, 8, 8, 8}) {
			t.Fatalf("%s: batches of %v after a failure of 32", name, got)
		}
		fail()
		fail()
		for range 20 {
			if got := together(); len(got) != 0 {
				t.Fatalf("%s: batches of %v, want none", name, got)
			}
		}
		if got := together(); len(got) != 8 {
			t.Fatalf("%s: batches of %v after a while, want 4 in each", name, got)
		}
	}
}

// A server that answers not even one query is away or overloaded: nothing is asked alone, and as many together as before. A caller that
// gives up says nothing about the server.
func TestBatchesOfAServerThatIsAway(t *testing.T) {
	hangs := func(_ http.ResponseWriter, r *http.Request) {
		_ = r.FormValue("query") // Until its body is read, a server does not see that the client is gone.
		<-r.Context().Done()
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		within  func(context.Context) (context.Context, context.CancelFunc)
	}{
		"hangs": {hangs, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		}},
		"given up": {hangs, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		}},
		"fails": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
		}, context.WithCancel},
	} {
		s := source(t, c.handler)
		ctx, cancel := c.within(t.Context())
		_, err := s.FetchBatch(ctx, s.Batches(queriesOf(3))[0])
		cancel()
		if !errors.Is(err, series.ErrUnavailable) || errors.Is(err, refresh.ErrNotTogether) {
			t.Errorf("%s: the error is %v", name, err)
		}
		if batches := s.Batches(queriesOf(3)); len(batches) != 1 || len(batches[0]) != 3 {
			t.Errorf("%s: batches of %v", name, batches)
		}
	}
}

// A server that takes too long for several queries, and answers one, is asked for fewer; also where one of them is what takes so long.
func TestOneSlowQueryOfABatch(t *testing.T) {
	handler, _ := evaluating(t, demandOf(3), unchanged)
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.FormValue("query"); strings.Contains(q, "forewarm_part") || strings.Contains(q, `"1"`) {
			http.Error(w, "query timed out", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	batch := s.Batches(queriesOf(3))[0]
	for range 2 {
		if _, err := s.FetchBatch(t.Context(), batch); err == nil {
			t.Fatal("there is an answer")
		}
	}
	if batches := s.Batches(queriesOf(3)); len(batches) != 0 {
		t.Errorf("batches of %v, want each alone", batches)
	}
}

// What one namespace asks is never asked with what differs in more than its own part.
func TestOnlyAlikeQueriesAreAskedTogether(t *testing.T) {
	s := source(t, answeringBody(""))
	all := queriesOf(2)
	for _, expr := range []string{`avg(demand)`, `sum(a) / sum(b)`, `sum by (x) (demand)`, `sum(`, `max(x)`} {
		q := query(10)
		q.Expr = expr
		all = append(all, q)
	}
	batches := s.Batches(all)
	if len(batches) != 1 || len(batches[0]) != 2 {
		t.Fatalf("batches %v, want the two sums", batches)
	}
	exprs := map[string]bool{batches[0][0].Expr: true, batches[0][1].Expr: true}
	if !maps.Equal(exprs, map[string]bool{all[0].Expr: true, all[1].Expr: true}) {
		t.Errorf("asked together: %v", exprs)
	}
}

var _ refresh.Batcher = (*prometheus.Source)(nil)
