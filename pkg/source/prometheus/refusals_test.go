package prometheus_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// said is an error as a server of the Prometheus API writes it.
func said(kind any, text string) string {
	body, err := json.Marshal(map[string]any{"status": "error", "errorType": kind, "error": text})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// VictoriaMetrics answers HTTP 422, since August 2026 (f8f87f316b) also 400, with the status as the type of every error, where Prometheus
// has "execution" or "bad_data". Its texts below are of b7ef6cc3ed, and of the releases before where they differ; Mimir's and Cortex' have
// their own words for limits. A refused query and a limit need another query. Only what the server may recover from is unavailable.
func TestWhatAServerSaysOfAQueryThatItDoesNotAnswer(t *testing.T) {
	const (
		refused     = "query refused"
		tooLarge    = "answer too large"
		unavailable = "source unavailable"
	)
	sentinel := map[string]error{
		refused:     series.ErrQuery,
		tooLarge:    series.ErrTooLarge,
		unavailable: series.ErrUnavailable,
	}
	const executing = `error when executing query="sum(x)" for (start=1, end=2, step=30000): `
	for _, tt := range []struct {
		name string
		code int
		body string
		want string
	}{
		{"a query that does not parse (told case)", 422, `{"status":"error","errorType":"422","error":"error when executing query=\"sum(x\" for (time=1, step=30000): cannot parse: unexpected end"}`, refused},
		{"a limit on samples (told case)", 422, `{"status":"error","errorType":"422","error":"cannot select more than -search.maxSamplesPerQuery=1000000000 samples"}`, tooLarge},

		{"a query that does not parse, by the newer status", 400, said("400", `cannot parse query "sum(x": unexpected end`), refused},
		{"a query that 1.102.0 does not parse", 422, said("422", `error when executing query="sum(g" on the time range (start=1795934160000, end=1795934205000, step=15000): argList: unexpected token ""; want ",", ")"; unparsed data: ""`), refused},
		{"an unknown function in 1.102.0", 422, said("422", `error when executing query="summ(g)" on the time range (start=1, end=2, step=15000): unsupported function "summ"`), refused},
		{"series in 1.102.0", 422, said("422", `search error after reading 0 data blocks: error when searching for tagFilters=[{__name__="g"}] on the time range [2026-11-29T06:30:45Z..2026-11-29T06:36:45Z]: error when searching for metricIDs in the current indexdb: the number of matching timeseries exceeds 3; either narrow down the search or increase -search.max* command-line flag values at vmselect`), tooLarge},
		{"an unknown function", 422, said("422", `unknown func "histogram_quantil"`), refused},
		{"a missing parameter", 400, said("400", "missing `query` arg"), refused},
		{"a modifier that cannot be evaluated", 422, said("422", "`@` modifier must return a single series; it returns 3 series instead"), refused},
		{"a query that is too long", 400, said("400", "too long query; got 20000 bytes; mustn't exceed `-search.maxQueryLen=16384` bytes"), refused},
		{"samples", 422, said("422", executing+"cannot select more than -search.maxSamplesPerQuery=1000 samples; possible solutions: increase the -search.maxSamplesPerQuery"), tooLarge},
		{"samples of a series", 422, said("422", "cannot process more than 30000000 samples per series; either increase -search.maxSamplesPerSeries or reduce time range for the query"), tooLarge},
		{"series, of a single node", 422, said("422", executing+"the number of matching timeseries exceeds 300000; either narrow down the search or increase -search.max* command-line flag values (the most likely limit is -search.maxUniqueTimeseries)"), tooLarge},
		{"series, of a storage node", 422, said("422", "error occurred during search: cannot fetch query results from vmstorage nodes: the number of matching timeseries exceeds 300000"), tooLarge},
		{"series, in other words", 422, said("422", "too many unique timeseries"), tooLarge},
		{"series of the answer", 422, said("422", "the response contains more than -search.maxResponseSeries=10 time series: 12 series"), tooLarge},
		{"points", 422, said("422", "too many points for the given start=1, end=2 and step=1: 40000; the maximum number of points is 30000; (see -search.maxPointsPerTimeseries command-line flag)"), tooLarge},
		{"points, by the newer status", 400, said("400", "too many points for the given step=30000, start=1 and end=2: 40000; cannot exceed -search.maxPointsPerTimeseries=30000"), tooLarge},
		{"points of a subquery", 422, said("422", "too many points for the given start=1, end=2 and step=1: 200000; the maximum number of points is 100000; (see -search.maxPointsSubqueryPerTimeseries command-line flag)"), tooLarge},
		{"memory of a query", 422, said("422", executing+"not enough memory for processing sum(x), which returns 1 data points across 1 time series with 1 points in each time series according to -search.maxMemoryPerQuery=1; requested memory: 9 bytes"), tooLarge},
		{"a timeout", 422, said("422", executing+"timeout exceeded during query execution: 30.000 seconds (elapsed 30.020 seconds); the timeout can be adjusted with `-search.maxQueryDuration` command-line flag"), unavailable},
		{"a timeout, by its status", 503, said("503", "timeout exceeded before starting the query processing: 30.000 seconds"), unavailable},
		{"a timeout of Prometheus", 503, said("timeout", "query timed out in expression evaluation"), unavailable},
		{"too many queries at once", 429, "remoteAddr: \"1.2.3.4:5\"; couldn't start executing the request in 10.000 seconds, since -search.maxConcurrentRequests=8 concurrent requests are executed", unavailable},
		{"too many queries at once, of an older release", 503, "cannot handle more than 8 concurrent search requests during 10s; possible solutions: increase -search.maxQueueDuration", unavailable},
		{"too many queries at once, by the type of a query", 422, said("422", "couldn't start executing the request in 10.000 seconds, since -search.maxConcurrentRequests=8 concurrent requests are executed"), unavailable},
		{"a storage node that is down", 422, said("422", "cannot fetch query results from vmstorage nodes: cannot perform search on vmstorage 10.0.0.1:8401: dial tcp 10.0.0.1:8401: connect: connection refused"), unavailable},
		{"a storage node that is down, by its status", 503, said("503", "cannot fetch query results from vmstorage nodes"), unavailable},
		{"a full disk", 422, said("422", "cannot write 65536 bytes to temporary file: no space left on device"), unavailable},
		{"a query with words of the server's trouble", 422, said("422", `error when executing query="sum(rate(timeout exceeded{job=\"vmstorage\"}" for (time=1, step=30000): unparsed data left`), refused},
		{"a query with words of a limit", 422, said("422", `error when executing query="sum(x{a=\"too many samples\"}" for (time=1, step=30000): unparsed data left`), refused},
		{"a type that is a number", 422, said(422, `unknown func "summ"`), refused},
		{"a limit with a type that is a number", 400, said(400, "cannot select more than -search.maxSamplesPerQuery=1000 samples"), tooLarge},
		{"no type, and a limit", 422, said("", "cannot select more than -search.maxSamplesPerQuery=1000 samples"), tooLarge},

		{"plain text of a limit", 422, "cannot select more than -search.maxSamplesPerQuery=1000 samples", tooLarge},
		{"plain text of a limit, by the newer status", 400, "cannot select more than -search.maxSamplesPerQuery=1000 samples\n", tooLarge},
		{"plain text of a query", 422, "unsupported expression", refused},
		{"plain text of a parser", 400, `1:5: parse error: unclosed left parenthesis`, refused},
		{"plain text of a timeout", 422, "timeout exceeded during query execution: 30.000 seconds", unavailable},
		{"plain text of a proxy", 400, "Client sent an HTTP request to an HTTPS server.", unavailable},
		{"plain text of vmauth", 400, `missing route for "/api/v1/query_range"`, unavailable},
		{"a page", 422, "<html>Unprocessable</html>", unavailable},
		{"nothing", 422, "", unavailable},
		{"JSON of another API", 422, `{"message":"invalid"}`, unavailable},

		{"Mimir's chunks", 422, said("execution", "the query exceeded the maximum number of chunks (limit: 2000000 chunks) (err-mimir-max-chunks-per-query). Consider reducing the time range"), tooLarge},
		{"Mimir's series", 422, said("execution", "expanding series: the query exceeded the maximum number of series (limit: 1 series) (err-mimir-max-series-per-query)"), tooLarge},
		{"Mimir's memory", 422, said("execution", "the query exceeded the maximum allowed estimated amount of memory consumed by a single query (limit: 11 bytes) (err-mimir-max-estimated-memory-consumption-per-query)"), tooLarge},
		{"Mimir's range", 422, said("bad_data", "the total query time range exceeds the limit (query length: 744h0m0s, limit: 720h0m0s) (err-mimir-max-total-query-length)"), tooLarge},
		{"Mimir's length of a query", 400, said("bad_data", "the raw query size in bytes exceeds the limit (query size: 9, limit: 8) (err-mimir-max-query-expression-size-bytes)"), refused},
		{"a query that Mimir's administrator blocks", 400, said("bad_data", "the request has been blocked by the cluster administrator (err-mimir-query-blocked)"), refused},
		{"Mimir's queue", 429, said("too_many_requests", "too many outstanding requests"), unavailable},
		{"Cortex' series", 422, said("execution", "the query hit the max number of series limit (limit: 10 series)"), tooLarge},
		{"Cortex' chunks", 422, said("execution", "the query hit the max number of chunks limit (limit: 2000000 chunks)"), tooLarge},
		{"Cortex' bytes", 422, said("execution", "the query hit the aggregated chunks size limit (limit: 10 bytes)"), tooLarge},
		{"Cortex' range", 400, said("bad_data", "the query time range exceeds the limit (query length: 744h, limit: 720h)"), tooLarge},
		{"a limit of Thanos' store", 422, said("execution", "expand series: proxy Series(): rpc error: code = ResourceExhausted desc = exceeded series limit: limit 10 violated (got 20)"), tooLarge},
		{"a store of Thanos that is down", 422, said("execution", "proxy Series(): rpc error: code = Unavailable desc = connection refused"), unavailable},
		{"Prometheus' samples", 422, said("execution", "query processing would load too many samples into memory in query execution"), tooLarge},
		{"Prometheus' points", 400, said("bad_data", "exceeded maximum resolution of 11,000 points per timeseries"), tooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kind := "application/json"
			if !strings.HasPrefix(tt.body, "{") {
				kind = "text/plain; charset=utf-8"
			}
			s := source(t, status(tt.code, kind, tt.body))
			_, err := s.Fetch(t.Context(), query(3))
			for name, is := range sentinel {
				if errors.Is(err, is) != (name == tt.want) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
			}
			if _, err := s.Clock(t.Context()); !errors.Is(err, sentinel[tt.want]) {
				t.Errorf("of an instant query: error %v, want %s", err, tt.want)
			}
		})
	}
	// The cause is not cut off behind the query.
	for text, want := range map[string]string{
		`error when executing query="sum(` + strings.Repeat("x", 300) + `" for (time=1, step=30000): cannot parse: unexpected end`: ": cannot parse: unexpected end: query refused",
		`search error after reading 0 data blocks: error when searching for tagFilters=[{__name__="` + strings.Repeat("x", 300) +
			`"}]: the number of matching timeseries exceeds 3; either narrow down the search`: ": the number of matching timeseries exceeds 3; either narrow down the search: answer too large",
	} {
		s := source(t, status(http.StatusUnprocessableEntity, "application/json", said("422", text)))
		if _, err := s.Fetch(t.Context(), query(3)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	s := source(
		t,
		status(
			http.StatusUnprocessableEntity,
			"application/json",
			said("422", "cannot select more than -search.maxSamplesPerQuery=1000 samples"),
		),
	)
	if _, err := s.Fetch(t.Context(), query(3)); err == nil || !strings.Contains(err.Error(), "recording rule") ||
		!strings.Contains(err.Error(), "maxSamplesPerQuery=1000") {
		t.Errorf("error %v, want the limit and what to do", err)
	}
}
