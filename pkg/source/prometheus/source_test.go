package prometheus_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	promconfig "github.com/prometheus/common/config"
	"go.uber.org/goleak"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const step = 30 * time.Second

var origin = time.Unix(1_700_000_010, 0).UTC().Truncate(step)

func query(points int) refresh.Query {
	return refresh.Query{
		Namespace: "ai", Expr: "sum(x)", From: origin, To: origin.Add(time.Duration(points-1) * step), Step: step,
	}
}

// source makes a Source on a server that answers with the handler.
func source(tb testing.TB, handler http.Handler, configure ...func(*prometheus.Config)) *prometheus.Source {
	tb.Helper()
	server := httptest.NewServer(handler)
	tb.Cleanup(server.Close)
	cfg := prometheus.Config{URL: server.URL}
	for _, c := range configure {
		c(&cfg)
	}
	s, err := prometheus.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// answeringBody is a server that answers every request with that body.
func answeringBody(body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		send(w, body)
	})
}

// send writes what it can: the client may have hung up, and the test is about what it then says.
func send(w io.Writer, body string) {
	io.WriteString(w, body) //nolint:errcheck // See above.
}

// engine answers range queries as Prometheus does: value(i) for the step i since origin, nothing where it is missing;
// more than 11,000 points are refused.
func engine(tb testing.TB, value func(i int) (float64, bool)) http.Handler {
	tb.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, end, stride := seconds(tb, r, "start"), seconds(tb, r, "end"), seconds(tb, r, "step")
		if (end-start)/stride > 11_000 {
			w.WriteHeader(http.StatusBadRequest)
			send(w, `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution"}`)
			return
		}
		samples := [][2]any{}
		for at := start; at <= end; at += stride {
			if v, ok := value(int(math.Round((at - float64(origin.Unix())) / step.Seconds()))); ok {
				samples = append(samples, [2]any{at, strconv.FormatFloat(v, 'g', -1, 64)})
			}
		}
		result := []any{}
		if len(samples) > 0 {
			result = append(result, map[string]any{"metric": map[string]string{}, "values": samples})
		}
		w.Header().Set("Content-Type", "application/json")
		body, err := json.Marshal(map[string]any{
			"status": "success", "data": map[string]any{"resultType": "matrix", "result": result},
		})
		if err != nil {
			tb.Error(err)
		}
		send(w, string(body))
	})
}

func seconds(tb testing.TB, r *http.Request, name string) float64 {
	tb.Helper()
	v, err := strconv.ParseFloat(r.FormValue(name), 64)
	if err != nil {
		tb.Errorf("%s: %v", name, err)
	}
	return v
}

func TestFetchAlignsAndKeepsGaps(t *testing.T) {
	nan := math.NaN()
	values := []float64{1, nan, 3, math.Inf(1), -5, 0}
	s := source(t, engine(t, func(i int) (float64, bool) { return values[i], i != 1 }))
	got, err := s.Fetch(t.Context(), query(len(values)))
	if err != nil {
		t.Fatal(err)
	}
	want := forecast.Series{Start: origin, Step: step, Values: values}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// 14 days at 30 s are 40,321 points: more than a server gives at once. The pieces join without a seam.
// NaN as the value of a sample is told apart from a missing sample.
func TestFetchMarksStoredNaN(t *testing.T) {
	s := source(t, engine(t, func(i int) (float64, bool) { return []float64{1, math.NaN(), 0}[i], i < 2 }))
	got, err := s.Fetch(t.Context(), query(3))
	if err != nil {
		t.Fatal(err)
	}
	var faults []series.Fault
	for _, v := range got.Values {
		faults = append(faults, series.FaultOf(v))
	}
	if diff := cmp.Diff(
		[]series.Fault{series.NoFault, series.NotANumber, series.NoFault},
		faults,
	); diff != "" ||
		!math.IsNaN(got.Values[2]) {
		t.Errorf("%v, %s", got.Values, diff)
	}
}

// The answer to a query at one time has a value for each value of a label, and none is no error.
func TestFetchByLabel(t *testing.T) {
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.FormValue(
			"time",
		); r.URL.Path != "/api/v1/query" ||
			got != strconv.FormatInt(origin.Add(step).Unix(), 10) {
			t.Errorf("asked %s at %s", r.URL.Path, got)
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.FormValue("query") {
		case "pods":
			send(w, `{"status":"success","data":{"resultType":"vector","result":[
				{"metric":{"workload":"Deployment/a"},"value":[1700000040,"3"]},{"metric":{},"value":[1700000040,"1"]}]}}`)
		case "none":
			send(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		case "number":
			send(w, `{"status":"success","data":{"resultType":"scalar","result":[1700000040,"3"]}}`)
		default:
			w.WriteHeader(http.StatusBadRequest)
			send(w, `{"status":"error","errorType":"bad_data","error":"no such query"}`)
		}
	}))
	for expr, want := range map[string]map[string]float64{"pods": {"Deployment/a": 3, "": 1}, "none": {}, "number": nil, "wrong": nil} {
		q := query(2)
		q.Expr = expr
		got, err := s.FetchByLabel(t.Context(), q, "workload")
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("%s: %v (-want +got)\n%s", expr, err, diff)
		}
	}
}

func TestFetchLongRangeInPieces(t *testing.T) {
	requests := 0
	answer := engine(t, func(i int) (float64, bool) { return float64(i), true })
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		answer.ServeHTTP(w, r)
	}))
	got, err := s.Fetch(t.Context(), query(40_321))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Values {
		if v != float64(i) {
			t.Fatalf("value %d is %v", i, v)
		}
	}
	if requests != 5 {
		t.Errorf("%d requests, want 5", requests)
	}
}

// A series that begins late has nothing in its first pieces: a gap, not an error.
func TestFetchEmptyPiecesAreGaps(t *testing.T) {
	s := source(t, engine(t, func(i int) (float64, bool) { return 1, i >= 15_000 }))
	got, err := s.Fetch(t.Context(), query(20_000))
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Observed(); n != 5_000 {
		t.Errorf("%d values, want 5000", n)
	}
}

func TestFetchSendsCredentialsHeadersAndLookback(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "first")
	var seen []string
	answer := engine(t, func(int) (float64, bool) { return 1, true })
	s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, strings.Join([]string{
			r.Header.Get("Authorization"), r.Header.Get("X-Scope-OrgID"), r.FormValue("lookback_delta"),
			r.URL.Query().Get("partial_response"), r.URL.Path,
		}, " "))
		answer.ServeHTTP(w, r)
	}), func(c *prometheus.Config) {
		c.URL += "/prometheus/?partial_response=false"
		c.HTTP.BearerTokenFile, c.HTTP.HTTPHeaders, c.Lookback = token, header("X-Scope-OrgID", "team-a"), time.Minute
	})
	for _, text := range []string{"first", "second"} { // The token is rotated under a running server.
		write(t, token, text)
		if _, err := s.Fetch(t.Context(), query(2)); err != nil {
			t.Fatal(err)
		}
	}
	const rest = " team-a 1m0s false /prometheus/api/v1/query_range"
	if diff := cmp.Diff([]string{"Bearer first" + rest, "Bearer second" + rest}, seen); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestFetchOverTLS(t *testing.T) {
	server := httptest.NewTLSServer(engine(t, func(int) (float64, bool) { return 1, true }))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	for file, trusted := range map[string]bool{ca: true, "": false} {
		s, err := prometheus.New(prometheus.Config{
			URL: server.URL, HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CAFile: file}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if _, err := s.Fetch(t.Context(), query(1)); (err == nil) != trusted {
			t.Errorf("CA file %q: error %v", file, err)
		}
	}
}

func TestConfigReportsEveryProblem(t *testing.T) {
	_, err := prometheus.New(prometheus.Config{
		URL:     "prometheus:9090",
		Timeout: -1,
		HTTP: promconfig.HTTPClientConfig{
			TLSConfig:   promconfig.TLSConfig{CertFile: "cert.pem"},
			HTTPHeaders: header("authorization", "Bearer x"),
		},
	})
	for _, want := range []string{"expected http://HOST:PORT", "both or neither", "not be negative", `"Authorization"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// A line break in a header would begin a header of its own, such as another tenant's.
func TestHeadersHaveNoLineBreaks(t *testing.T) {
	for name, headers := range map[string]*promconfig.Headers{
		"a value":  header("X-Scope-OrgID", "team-a\r\nX-Scope-OrgID: team-b"),
		"a name":   header("X-Scope-OrgID: team-b\r\nX", "team-a"),
		"no name":  header("", "team-a"),
		"a zero":   header("X-Scope-OrgID", "team-a\x00"),
		"reserved": header("host", "other.example"),
	} {
		_, err := prometheus.New(prometheus.Config{
			URL: "http://127.0.0.1:9090", HTTP: promconfig.HTTPClientConfig{HTTPHeaders: headers},
		})
		if err == nil || strings.ContainsAny(err.Error(), "\r\x00") || strings.Contains(err.Error(), "team-a") {
			t.Errorf("%s: %v, want an error without the value", name, err)
		}
	}
}

// header is one header as a secret.
func header(name, value string) *promconfig.Headers {
	secret := promconfig.Header{Secrets: []promconfig.Secret{promconfig.Secret(value)}}
	return &promconfig.Headers{Headers: map[string]promconfig.Header{name: secret}}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The clock of a server is the time of its answer to time(). VictoriaMetrics answers with a vector, whose value is 30 s before its clock.
func TestTheClockOfAServer(t *testing.T) {
	now := origin.Add(7 * time.Second)
	at := strconv.FormatInt(now.Unix(), 10)
	for _, c := range []struct {
		name, answer string
		known        bool
	}{
		{"Prometheus", `"resultType":"scalar","result":[` + at + `,"` + at + `"]`, true},
		{"VictoriaMetrics", `"resultType":"vector","result":[{"metric":{},"value":[` + at + `,"` + strconv.FormatInt(now.Unix()-30, 10) + `"]}]`, true},
		{"an empty vector", `"resultType":"vector","result":[]`, false},
		{"two numbers", `"resultType":"vector","result":[{"metric":{},"value":[1,"1"]},{"metric":{"a":"b"},"value":[1,"1"]}]`, false},
		{"a matrix", `"resultType":"matrix","result":[]`, false},
		{"a string", `"resultType":"string","result":[1,"x"]`, false},
	} {
		s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("query") != "time()" || r.FormValue("time") != "" || r.URL.Path != "/api/v1/query" {
				t.Errorf("%s: asked for %s", r.URL.Path, r.Form.Encode())
			}
			answeringBody(`{"status":"success","data":{`+c.answer+`}}`).ServeHTTP(w, r)
		}))
		got, err := s.SourceClock(t.Context(), "ai", refresh.SourceRef{})
		if (err == nil) != c.known || c.known && !got.Equal(now) {
			t.Errorf("%s: the clock is %v (%v), want %v", c.name, got, err, now)
		}
	}
}

// MetricsQL has no function for the count of a native histogram: the query is asked without it, and so is every later one.
func TestAStoreWithoutNativeHistograms(t *testing.T) {
	const refusal = `{"status":"error","errorType":"422","error":"unknown func \"histogram_count\""}`
	for name, c := range map[string]struct {
		expr  string
		asked []string
		fails bool
	}{
		"an alternative": {
			expr:  "sum(rate(a_count[2m]) or histogram_count(rate(a[2m])))",
			asked: []string{"sum(rate(a_count[2m]) or histogram_count(rate(a[2m])))", "sum(rate(a_count[2m]))", "sum(rate(a_count[2m]))"},
		},
		"nothing else": {
			expr:  "sum(histogram_count(rate(a[2m])))",
			asked: []string{"sum(histogram_count(rate(a[2m])))", "sum(histogram_count(rate(a[2m])))"}, fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			answers := engine(t, func(int) (float64, bool) { return 1, true })
			s := source(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.FormValue("query"))
				if strings.Contains(r.FormValue("query"), "histogram_count") {
					w.WriteHeader(http.StatusUnprocessableEntity)
					send(w, refusal)
					return
				}
				answers.ServeHTTP(w, r)
			}))
			q := query(3)
			q.Expr = c.expr
			for range 2 {
				if _, err := s.Fetch(
					t.Context(),
					q,
				); (err != nil) != c.fails ||
					c.fails && !errors.Is(err, series.ErrQuery) {
					t.Errorf("error %v, want one: %v", err, c.fails)
				}
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
		})
	}
}
