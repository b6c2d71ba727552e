package prometheus_test

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// vmselect is an answer of the querier of a VictoriaMetrics cluster, by its documentation ("Every partial JSON response
// contains "isPartial": true") and the answers in its guides. No cluster is built here.
func vmselect(partial, rest string) string {
	return `{"status":"success","isPartial":` + partial + `,"data":{"resultType":"matrix","result":[` +
		stream("", sample(0, "7"), sample(1, "7"), sample(2, "7")) + `]}` + rest + `}`
}

// A total over a part of the stores is too low. It is an error, whichever way the server says that it is a part.
func TestFetchRefusesPartialAnswers(t *testing.T) {
	whole := matrix(stream("", sample(0, "7"), sample(1, "7"), sample(2, "7")))
	with := func(more string) string { return strings.TrimSuffix(whole, "}") + more + "}" }
	tests := []struct {
		name, body string
		says       []string
	}{
		{"vmselect without a storage node", vmselect("true", ""), []string{"partial", "storage node", "check"}},
		{"the mark after the data", with(`,"isPartial":true`), []string{"partial"}},
		{"a mark that is no boolean", vmselect(`"yes"`, ""), []string{"partial"}},
		{
			"Thanos without a store",
			with(
				`,"warnings":["fetch series for {replica=\"b\"} Addr: 10.0.0.1:10901: rpc error: code = Unavailable"]`,
			),
			[]string{"incomplete", "rpc error: code = Unavailable", "check the stores"},
		},
		{
			"a warning behind those of the query",
			with(`,"warnings":["PromQL info: x","PromQL warning: y","No StoreAPIs matched for this query"]`),
			[]string{"incomplete", "No StoreAPIs matched"},
		},
		{
			"a warning and no series", strings.TrimSuffix(matrix(""), "}") + `,"warnings":["store down"]}`,
			[]string{"incomplete", "store down"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := source(t, answeringBody(tt.body)).Fetch(t.Context(), query(3))
			if !errors.Is(err, series.ErrUnavailable) || got.Len() != 0 {
				t.Fatalf("%v and error %v, want nothing and ErrUnavailable", got.Values, err)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// The mark of a whole answer, and the word elsewhere, are no reason to refuse it.
func TestFetchServesWholeAnswersOfVMSelect(t *testing.T) {
	for name, body := range map[string]string{
		"a whole answer":     vmselect("false", `,"stats":{"seriesFetched":"3"}`),
		"in a label's value": matrix(stream(`"mark":"isPartial"`, sample(0, "7"), sample(1, "7"), sample(2, "7"))),
		"in the statistics":  vmselect("false", `,"stats":{"isPartial":true}`),
	} {
		got, err := source(t, answeringBody(body)).Fetch(t.Context(), query(3))
		if err != nil || got.Values[2] != 7 {
			t.Errorf("%s: %v and error %v, want 7", name, got.Values, err)
		}
	}
}

// One piece of a long range may be partial: the whole range is then refused.
func TestFetchRefusesOnePartialPiece(t *testing.T) {
	n := 0
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answer := answeringBody(matrix(""))
		if n == 2 {
			answer = answeringBody(`{"status":"success","isPartial":true,"data":{"resultType":"matrix","result":[]}}`)
		}
		answer.ServeHTTP(w, r)
	}))
	if _, err := s.Fetch(t.Context(), query(20_000)); !errors.Is(err, series.ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

// Thanos answers status 422 with the type of a query's error if a store fails while partial answers are off. The query is
// not to blame: the error passes when the store is back.
func TestFetchFailedStoreIsNotTheQuerysError(t *testing.T) {
	const body = `{"status":"error","errorType":"execution","error":"expanding series: proxy Series(): rpc error: ` +
		`code = Aborted desc = receive series from Addr: 10.0.0.1:10901"}`
	_, err := source(t, status(422, "application/json", body)).Fetch(t.Context(), query(3))
	if !errors.Is(err, series.ErrUnavailable) || errors.Is(err, series.ErrQuery) ||
		!strings.Contains(err.Error(), "a store behind the server failed") {
		t.Errorf("error %v, want ErrUnavailable that names the store", err)
	}
}

// A label of the answer that contradicts every selector of the query is another tenant's.
func TestFetchRefusesAnotherTenantsData(t *testing.T) {
	const other = `"namespace":"b","pod":"p"`
	tests := []struct {
		name, expr, labels string
		refused            bool
	}{
		{"the tenant's own", `x{namespace="a"}`, `"namespace":"a","pod":"p"`, false},
		{"another's", `x{namespace="a"}`, other, true},
		{"another's after a function", `max by (namespace) (rate(x{namespace="a"}[1m]))`, other, true},
		{"another's alongside the tenant's", `x{namespace="a"} or y{namespace="a"}`, other, true},
		{"a total", `sum(x{namespace="a"})`, ``, false},
		{"a query for both", `x{namespace="a"} or x{namespace="b"}`, other, false},
		{"a query for all", `x`, other, false},
		{"a pattern", `x{namespace=~"a|b"}`, other, false},
		{"a label that the query writes", `label_replace(x{namespace="a"}, "namespace", "b", "", "")`, other, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := query(3)
			q.Expr = tt.expr
			s := source(t, answeringBody(matrix(stream(tt.labels, sample(0, "7")))))
			got, err := s.Fetch(t.Context(), q)
			switch {
			case !tt.refused && (err != nil || got.Values[0] != 7 || !math.IsNaN(got.Values[1])):
				t.Errorf("%v and error %v, want 7 and gaps", got.Values, err)
			case tt.refused && (!errors.Is(err, series.ErrUnavailable) ||
				!strings.Contains(err.Error(), `namespace="b" instead of "a"`) ||
				!strings.Contains(err.Error(), "check the tenant header")):
				t.Errorf("error %v, want ErrUnavailable with both namespaces", err)
			}
		})
	}
}
