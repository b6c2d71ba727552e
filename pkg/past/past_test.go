package past_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/past"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

const sound = `
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: llama, namespace: team}
spec:
  targetRef: {kind: Deployment, name: llama}
  signal: {query: sum(requests)}
  quantile: "0.95"
  step: 2m
  history: 2d
`

// clusterWith is a cluster with one Forecast, and no autoscalers.
func clusterWith(t *testing.T, forecast string) *rest.Config {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(forecast))
	if err != nil {
		t.Fatal(err)
	}
	return &rest.Config{Host: serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := body
		if !strings.HasSuffix(r.URL.Path, "/namespaces/team/forecasts/llama") {
			w.WriteHeader(http.StatusNotFound)
			answer = []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
		w.Write(answer) //nolint:errcheck // A client that is gone needs no answer.
	})}
}

// storeOf is a Prometheus whose range queries read a history; it has no other answers.
func storeOf(t *testing.T, history *recordedtest.Prometheus) prometheus.Config {
	t.Helper()
	return prometheus.Config{Timeout: 10 * time.Second, URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/query_range") {
			history.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		const none = `{"status":"success","data":{"resultType":"vector","result":[]}}`
		io.WriteString(w, none) //nolint:errcheck // As above.
	})}
}

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// gauges are Forewarm's own recorded values, next to the demand.
func gauges(query string) func(time.Time) float64 {
	for name, value := range map[string]float64{
		"forewarm_observed_value": 100, "forewarm_served_value": 175, `state="wanted"`: 12, `state="ready"`: 11,
	} {
		if strings.Contains(query, name) {
			return func(time.Time) float64 { return value }
		}
	}
	return recordedtest.Hourly
}

// Both columns are read at each time: the recorded gauges, and what today's spec would have served.
func TestRead(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 2, 12, 0, 17, 0, time.UTC)
	all, err := past.Read(t.Context(), past.Config{
		From: from, Prometheus: storeOf(t, &recordedtest.Prometheus{Answer: gauges}), Trust: signal.DefaultTrust(),
	}, clusterWith(t, sound), []snapshot.Key{{Namespace: "team", Name: "llama"}}, from.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	f := all[0]
	if f.Key != "team/llama" || len(f.Notes) != 0 || len(f.Moments) == 0 || len(f.Moments) > 24 {
		t.Fatalf("%s with %d moments, notes %q, first %+v", f.Key, len(f.Moments), f.Notes, f.Moments[0].TodaysSpec)
	}
	for i, m := range f.Moments {
		if i > 0 && m.Time.Sub(f.Moments[i-1].Time) != 6*time.Minute || m.Time.Unix()%60 != 0 {
			t.Errorf("moment %d is at %s, want each on the grid, six minutes apart", i, m.Time)
		}
		r := m.Recorded
		if *r.Observed != 100 || *r.Served != 175 || *r.Wanted != 12 || *r.Ready != 11 {
			t.Errorf("at %s %v, %v, %v and %v were recorded", m.Time, *r.Observed, *r.Served, *r.Wanted, *r.Ready)
		}
		s := m.TodaysSpec
		if s.State != string(snapshot.Ready) || s.Observed == nil || s.Served == nil || s.Reason == "" {
			t.Fatalf("at %s today's spec has %+v", m.Time, s)
		}
		if *s.Observed < 40 || *s.Served < *s.Observed {
			t.Errorf("at %s today's spec observes %v and serves %v", m.Time, *s.Observed, *s.Served)
		}
	}
}

// What is not known is a note with what to check; a number that is not known is nil.
func TestNothingRecorded(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	all, err := past.Read(t.Context(), past.Config{
		From: from, Prometheus: storeOf(t, &recordedtest.Prometheus{}), Trust: signal.DefaultTrust(),
	}, clusterWith(t, sound), []snapshot.Key{{Namespace: "team", Name: "llama"}}, from)
	if err != nil {
		t.Fatal(err)
	}
	f := all[0]
	notes := strings.Join(f.Notes, "\n")
	for _, want := range []string{
		`no series forewarm_served_value, forewarm_observed_value or forewarm_workload_replicas with {namespace="team",forecast="llama"}`,
		"The replay needs 2d of history before each time, but there is less",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if len(f.Moments) != 1 {
		t.Fatalf("%d moments, want one", len(f.Moments))
	}
	m := f.Moments[0]
	if m.Recorded != (past.Recorded{}) || m.TodaysSpec.Observed != nil || m.TodaysSpec.Served != nil {
		t.Errorf("%+v is known", m)
	}
}

// What cannot be read is an error that names it.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		forecast, key string
		history       *recordedtest.Prometheus
		want          string
	}{
		"invalid":     {strings.Replace(sound, "2m", "90ms", 1), "llama", &recordedtest.Prometheus{}, "the Forecast team/llama is invalid"},
		"not there":   {sound, "other", &recordedtest.Prometheus{}, "read Forecast team/other"},
		"no answer":   {sound, "llama", &recordedtest.Prometheus{Refusal: "out of order"}, "read the gauges of Forewarm: "},
		"many series": {sound, "llama", &recordedtest.Prometheus{Answer: gauges, Several: true}, "read the gauges of Forewarm: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := past.Read(t.Context(), past.Config{
				From: from, Prometheus: storeOf(t, c.history), Trust: signal.DefaultTrust(),
			}, clusterWith(t, c.forecast), []snapshot.Key{{Namespace: "team", Name: c.key}}, from.Add(time.Hour))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := past.Read(t.Context(), past.Config{}, &rest.Config{}, nil, from); err == nil {
		t.Error("a Prometheus without a URL is read")
	}
}
