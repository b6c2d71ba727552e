package prometheus_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

func matrix(result string) string {
	return `{"status":"success","data":{"resultType":"matrix","result":[` + result + `]}}`
}

func stream(labels string, samples ...string) string {
	return `{"metric":{` + labels + `},"values":[` + strings.Join(samples, ",") + `]}`
}

// sample is the i-th step's sample.
func sample(i int, v string) string {
	return fmt.Sprintf(`[%d,%q]`, origin.Add(time.Duration(i)*step).Unix(), v)
}

func status(code int, kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		send(w, body)
	})
}

func TestFetchBadAnswers(t *testing.T) {
	const page = "<!DOCTYPE html><html><form>password</form></html>"
	tests := []struct {
		name    string
		handler http.Handler
		want    error
		says    []string
	}{
		{"no series", answeringBody(matrix("")), series.ErrNoSeries, []string{"metric exists", "with these labels: "}},
		{"a series without samples", answeringBody(matrix(stream(`"a":"b"`))), nil, nil},
		{
			"two series",
			answeringBody(matrix(stream(`"pod":"a"`, sample(0, "1")) + "," + stream(`"pod":"b"`, sample(1, "1")))),
			series.ErrSeveralSeries,
			[]string{`{pod="a"}, {pod="b"}`, "sum()"},
		},
		{
			"two series of the same labels",
			answeringBody(matrix(stream(`"pod":"a"`, sample(0, "1")) + "," + stream(`"pod":"a"`, sample(1, "2")))),
			series.ErrSeveralSeries,
			[]string{`{pod="a"}, {pod="a"}`, "sum()"},
		},
		{"five series", answeringBody(matrix(strings.Join([]string{
			stream(`"p":"1"`), stream(`"p":"2"`), stream(`"p":"3"`), stream(`"p":"4"`), stream(`"p":"5"`),
		}, ","))), series.ErrSeveralSeries, []string{`{p="1"}, {p="2"} and more`}},
		{
			"series cut off by the limit",
			answeringBody(strings.TrimSuffix(matrix(stream(`"p":"1"`)+","+stream(`"p":"2"`)), "}") +
				`,"warnings":["results truncated due to limit"]}`),
			series.ErrSeveralSeries,
			nil,
		},
		{
			"a query that does not parse", status(400, "application/json",
				`{"status":"error","errorType":"bad_data","error":"1:5: parse error: unclosed left parenthesis"}`),
			series.ErrQuery,
			[]string{"unclosed left parenthesis"},
		},
		{
			"an execution error", status(422, "application/json",
				`{"status":"error","errorType":"execution","error":"many-to-many matching not allowed"}`),
			series.ErrQuery,
			[]string{"many-to-many"},
		},
		{
			"too many samples",
			status(
				422,
				"application/json",
				`{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory"}`,
			),
			series.ErrTooLarge,
			[]string{"recording rule"},
		},
		{
			"native histograms",
			answeringBody(matrix(`{"metric":{},"histograms":[[1700000000,{"count":"1","sum":"1","buckets":[]}]]}`)),
			series.ErrQuery,
			[]string{"histogram_count()"},
		},
		{
			"a vector", answeringBody(`{"status":"success","data":{"resultType":"vector","result":[]}}`),
			series.ErrUnavailable,
			[]string{"Vector"},
		},
		{"an internal error", status(500, "text/plain", "boom"), series.ErrUnavailable, []string{"500", "boom"}},
		{"overload", status(503, "text/html", "<html>later</html>"), series.ErrUnavailable, []string{"503"}},
		{"no token", status(401, "text/plain", "no"), series.ErrUnavailable, []string{"401", "token"}},
		{
			"a wrong path", status(404, "text/plain", "404 page not found"), series.ErrUnavailable,
			[]string{"before /api/v1"},
		},
		{"a bad request of a proxy", status(400, "text/html", "<html>"), series.ErrUnavailable, []string{"400"}},
		{
			"a login page", status(200, "text/html; charset=utf-8", "<html><form>password"),
			series.ErrUnavailable,
			[]string{"login"},
		},
		{"no JSON", answeringBody("hello"), series.ErrUnavailable, []string{"not a response of the Prometheus API"}},
		{"an empty answer", answeringBody(""), series.ErrUnavailable, nil},
		{"null", answeringBody("null"), series.ErrUnavailable, nil},
		{"a matrix of null", answeringBody(matrix("null")), series.ErrUnavailable, nil},
		{"no data", answeringBody(`{"status":"success"}`), series.ErrUnavailable, nil},
		{"truncated JSON", answeringBody(matrix(stream("", sample(0, "1")))[:60]), series.ErrUnavailable, nil},
		{"a truncated body", truncated(), series.ErrUnavailable, []string{"EOF"}},
		{"a value that is no number", answeringBody(matrix(stream("", sample(0, "abc")))), series.ErrUnavailable, nil},
		{
			"a sample off the grid", answeringBody(matrix(stream("", `[1700000001.5,"1"]`))),
			series.ErrUnavailable,
			[]string{"not one of the times of the query"},
		},
		{
			"samples out of order", answeringBody(matrix(stream("", sample(1, "1"), sample(0, "1")))),
			series.ErrUnavailable, nil,
		},
		{
			"a sample twice", answeringBody(matrix(stream("", sample(1, "1"), sample(1, "2")))),
			series.ErrUnavailable, nil,
		},
		{"a sample before the range", answeringBody(matrix(stream("", sample(-1, "1")))), series.ErrUnavailable, nil},
		{"a sample after the range", answeringBody(matrix(stream("", sample(3, "1")))), series.ErrUnavailable, nil},
		{"a time beyond all times", answeringBody(matrix(stream("", `[1e300,"1"]`))), series.ErrUnavailable, nil},
		{"a partial answer", answeringBody(strings.TrimSuffix(matrix(stream("", sample(0, "1"))), "}") +
			`,"warnings":["No StoreAPIs matched for this query"]}`), series.ErrUnavailable, []string{"incomplete"}},
		{"a warning about the query", answeringBody(strings.TrimSuffix(matrix(stream("", sample(0, "1"))), "}") +
			`,"warnings":["PromQL warning: encountered a mix"]}`), nil, nil},
		{
			"a redirect", http.RedirectHandler("https://login.example/oauth?secret=x", http.StatusFound),
			series.ErrUnavailable,
			[]string{"redirects to https://login.example/oauth:"},
		},
		// Pages that are none by their header, and answers with other statuses of success.
		{"a page that calls itself JSON", answeringBody(page), series.ErrUnavailable, nil},
		{"a page without a type", status(200, "", page), series.ErrUnavailable, nil},
		{"a page of XHTML", status(200, "application/xhtml+xml", page), series.ErrUnavailable, nil},
		{"a page with the status of VM", status(422, "text/html", page), series.ErrUnavailable, nil},
		{"no content", status(204, "application/json", ""), series.ErrUnavailable, nil},
		{
			"a part by the status, cut off",
			status(206, "application/json", matrix(stream("", sample(0, "7")))[:50]), series.ErrUnavailable, nil,
		},
		{
			"a success that is an error", status(200, "application/json", `{"status":"error","error":"x"}`),
			series.ErrUnavailable, nil,
		},
		{
			"an error that is a success", status(422, "application/json", matrix(stream("", sample(0, "7")))),
			series.ErrUnavailable, nil,
		},
		{"another API's answer", answeringBody(`{"results":[{"series":[]}]}`), series.ErrUnavailable, nil},
		{
			"two answers, one after another", answeringBody(matrix("") + matrix(stream("", sample(0, "7")))),
			series.ErrUnavailable, nil,
		},
		{
			"a hang-up", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
			series.ErrUnavailable, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := source(t, tt.handler).Fetch(t.Context(), query(3))
			if !errors.Is(err, tt.want) || err != nil && got.Len() != 0 {
				t.Fatalf("%v and error %v, want nothing and %v", got.Values, err, tt.want)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if err != nil && (len(err.Error()) > 800 || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error %q is long or tells a secret", err)
			}
		})
	}
}

// truncated promises more bytes than it sends.
func truncated() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		send(w, `{"status":"success"`)
	})
}

// The pieces of one range must be the same series: a pod that replaced another is two.
func TestFetchSeriesThatChangesBetweenPieces(t *testing.T) {
	n := 0
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answeringBody(matrix(stream(fmt.Sprintf(`"pod":"p%d"`, n)))).ServeHTTP(w, r)
	}))
	if _, err := s.Fetch(t.Context(), query(20_000)); !errors.Is(err, series.ErrSeveralSeries) {
		t.Errorf("error %v, want ErrMany", err)
	}
}

func TestFetchServerDown(t *testing.T) {
	server := httptest.NewServer(answeringBody(""))
	url := server.URL
	server.Close()
	s, err := prometheus.New(prometheus.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fetch(t.Context(), query(1)); !errors.Is(err, series.ErrUnavailable) ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

// slow keeps every request until the client gives up. The server notices that only once it has read the request.
func slow() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.ParseForm() == nil {
			<-r.Context().Done()
		}
	})
}

func TestFetchSlowServer(t *testing.T) {
	s := source(t, slow(), func(c *prometheus.Config) { c.Timeout = 50 * time.Millisecond })
	if _, err := s.Fetch(t.Context(), query(1)); !errors.Is(err, series.ErrUnavailable) ||
		!strings.Contains(err.Error(), "no response within 50ms") {
		t.Errorf("error %v, want ErrUnavailable that says 50ms", err)
	}
}

// A body that drips keeps no one waiting beyond the timeout.
func TestFetchDrippingBody(t *testing.T) {
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ParseForm() != nil {
			return
		}
		send(w, `{"status":`)
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		<-r.Context().Done()
	}), func(c *prometheus.Config) { c.Timeout = 50 * time.Millisecond })
	if _, err := s.Fetch(t.Context(), query(1)); !errors.Is(err, series.ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

// Ten million points, some 200 MB, do not come into memory, no matter who asked for them. What is written until the server notices is in the
// buffers of the sockets, which hold several MiB.
func TestFetchTenMillionPoints(t *testing.T) {
	line := []byte(strings.Repeat(sample(0, "1")+",", 1000))
	var written atomic.Int64
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		send(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[`)
		for range 10_000 {
			n, err := w.Write(line)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	_, err := s.Fetch(t.Context(), query(3))
	if !errors.Is(err, series.ErrTooLarge) || !strings.Contains(err.Error(), "98688 bytes") || written.Load() > 16<<20 {
		t.Errorf("error %v after %d bytes, want ErrTooLarge that says the limit", err, written.Load())
	}
}

// A store that ignores the limit of a query does not fill the memory with a namespace's series, no matter who asks for them.
func TestFetchThousandsOfSeries(t *testing.T) {
	var written atomic.Int64
	one := []byte("," + stream(`"pod":"`+strings.Repeat("x", 1000)+`"`, sample(0, "1"), sample(1, "1")))
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		send(w, `{"status":"success","data":{"resultType":"matrix","result":[`+string(one[1:]))
		for range 16 << 10 {
			n, err := w.Write(one)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
		send(w, `]}}`)
	}))
	var fetches sync.WaitGroup
	for range 16 {
		fetches.Go(func() {
			_, err := s.Fetch(t.Context(), query(3))
			if !errors.Is(err, series.ErrSeveralSeries) || !strings.Contains(err.Error(), "and more") {
				t.Errorf("error %v, want ErrSeveralSeries", err)
			}
		})
	}
	fetches.Wait()
	if got := written.Load(); got > 16*8<<20 {
		t.Errorf("%d MiB were sent", got>>20)
	}
}

// An answer that says beforehand that it is too long is not read at all.
func TestFetchAnnouncedTooLarge(t *testing.T) {
	s := source(t, answeringBody(matrix(string(bytes.Repeat([]byte(" "), 5000)))),
		func(c *prometheus.Config) { c.MaxBytes = 1000 })
	if _, err := s.Fetch(t.Context(), query(3)); !errors.Is(err, series.ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}

func TestFetchRefusesImpossibleRanges(t *testing.T) {
	s := source(t, answeringBody(matrix("")), func(c *prometheus.Config) { c.MaxPoints = 100 })
	tests := []struct {
		name   string
		change func(*refresh.Query)
		want   error
	}{
		{"no step", func(q *refresh.Query) { q.Step = 0 }, series.ErrQuery},
		{"a step of microseconds", func(q *refresh.Query) { q.Step = time.Microsecond }, series.ErrQuery},
		{"an end before the start", func(q *refresh.Query) { q.To = q.From.Add(-step) }, series.ErrQuery},
		{"too many points", func(q *refresh.Query) { q.To = q.From.Add(100 * step) }, series.ErrTooLarge},
	}
	for _, tt := range tests {
		q := query(3)
		tt.change(&q)
		if _, err := s.Fetch(t.Context(), q); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
}
