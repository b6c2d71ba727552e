package prometheus_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Whatever a server answers, it is a series on the grid that was asked for, or one error of the known kinds that is short.
func FuzzFetch(f *testing.F) {
	for _, body := range []string{
		matrix(stream(`"a":"b"`, sample(0, "1"), sample(1, "NaN"), sample(2, "+Inf"))),
		matrix(stream("", sample(0, "-1e308"))), matrix(""), matrix(stream(`"a":"b"`)),
		matrix(stream(`"pod":"a"`, sample(0, "1")) + "," + stream(`"pod":"b"`, sample(1, "1"))),
		matrix(stream("", sample(0, "1"), sample(0, "2"))), matrix(stream("", `[1e300,"1"]`)), matrix("null"),
		matrix(`{"metric":{},"histograms":[[1700000010,{"count":"1","sum":"2","buckets":[[0,"0","1","1"]]}]]}`),
		`{"status":"success","data":{"resultType":"vector","result":[]}}`,
		`{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`,
		`{"status":"error","errorType":"bad_data","error":"1:3: parse error"}`, `{"status":"success"}`, "null", "[]", "<html>",
		`{"status":"success","data":{"resultType":"matrix","result":[]},"warnings":["PromQL warning: x","y"]}`,
	} {
		f.Add([]byte(body), http.StatusOK)
	}
	f.Add([]byte("no upstream"), http.StatusBadGateway)
	f.Add([]byte(`{"status":"error","errorType":"execution","error":"query processing would load too many samples"}`),
		422)
	var body atomic.Pointer[[]byte]
	var code atomic.Int64
	s := source(f, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(code.Load()))
		send(w, string(*body.Load()))
	}), func(c *prometheus.Config) { c.MaxBytes = 1 << 20 })
	f.Fuzz(func(t *testing.T, answer []byte, status int) {
		if status < 200 || status > 599 {
			t.Skip("no status of HTTP")
		}
		body.Store(&answer)
		code.Store(int64(status))
		q := query(3)
		got, err := s.Fetch(t.Context(), q)
		if err == nil {
			if !got.Start.Equal(q.From) || got.Step != q.Step || got.Len() != q.Points() {
				t.Fatalf("%q: %+v is not what was asked for", answer, got)
			}
			return
		}
		known := 0
		for _, kind := range []error{
			series.ErrNoSeries, series.ErrSeveralSeries, series.ErrQuery, series.ErrTooLarge, series.ErrUnavailable,
		} {
			if errors.Is(err, kind) {
				known++
			}
		}
		if text := err.Error(); known != 1 || len(text) > 800 || !utf8.ValidString(text) {
			t.Fatalf("%q: %d kinds, %d bytes: %q", answer, known, len(text), text)
		}
	})
}

// Whatever is set as a URL, what is shown of it has no password and no query.
func FuzzRedacted(f *testing.F) {
	f.Add("https", "me", "secret", "prometheus:9090/prefix", "token=secret")
	f.Add("http", "", "%", "a b", "#")
	f.Add("/", "0", "0", "0", "0")
	f.Add("http", "0/", "0", "0", "0")
	f.Fuzz(func(t *testing.T, scheme, user, password, rest, query string) {
		const secret = "S3CR3T"
		text := scheme + "://" + user + ":" + secret + password + "@" + rest + "?" + query + secret
		shown := prometheus.RedactedURL(text)
		err := prometheus.Config{URL: text}.Validate()
		if strings.Contains(rest, secret) || strings.Contains(scheme+user, secret) {
			t.Skip("the secret stands elsewhere, too")
		}
		if strings.Contains(shown, secret) || err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("%q is shown as %q, %v", text, shown, err)
		}
	})
}
