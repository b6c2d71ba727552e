package serve //nolint:testpackage // The server without the command line, on a port of its own.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// oneStore answers the query of every tenant with its own level, by the header that Mimir and its kin read.
func oneStore(t *testing.T, levels map[string]int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		level, known := levels[r.Header.Get("X-Scope-OrgID")]
		start, err1 := strconv.ParseFloat(r.FormValue("start"), 64)
		end, err2 := strconv.ParseFloat(r.FormValue("end"), 64)
		step, err3 := strconv.ParseFloat(r.FormValue("step"), 64)
		if !known || err1 != nil || err2 != nil || err3 != nil {
			http.Error(w, "no org id", http.StatusUnauthorized)
			return
		}
		var points []string
		for at := start; at <= end; at += step {
			points = append(points, fmt.Sprintf(`[%.3f,"%d"]`, at, level))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[%s]}]}}`,
			strings.Join(points, ","))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const tenantsForecasts = `apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: load, namespace: %[1]s}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {query: 'sum(load)'%[2]s}
  quantile: "0.9"
  leadTime: {mode: Fixed, duration: 1m}
  step: 1s
  history: 10m
---
`

// Two tenants of one store ask the same. Each is served its own demand, until its grant is taken away.
func TestSourcesByTenant(t *testing.T) {
	url, dir := oneStore(t, map[string]int{"a": 42, "b": 4200}), t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := func(name, namespaces string) string {
		return fmt.Sprintf(
			"- {name: store-%s, url: %q, namespaces: [%s], http_headers: {X-Scope-OrgID: {values: [%s]}}}\n", name, url,
			namespaces, name,
		)
	}
	write("sources", "sources:\n"+source("a", "team-a")+source("b", "team-b"))
	write("forecasts.yaml", fmt.Sprintf(tenantsForecasts, "team-a", "")+
		fmt.Sprintf(tenantsForecasts, "team-b", ", source: store-b")+
		fmt.Sprintf(tenantsForecasts, "thief", ", source: store-b"))
	o := Defaults()
	o.Standalone, o.Local.Port = true, 0
	// A folder of Forecasts reads files with the endings of YAML and JSON only.
	o.ConfigDir, o.SourcesFile = dir, filepath.Join(dir, "sources")
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	address, stop := serve(t, o)
	defer stop()
	served := func(namespace string, code int, want string) {
		t.Helper()
		eventually(t, func() string {
			got, body := get(t, address+"/apis/external.metrics.k8s.io/v1beta1/namespaces/"+namespace+"/load")
			if got == code && strings.Contains(body, want) {
				return ""
			}
			return fmt.Sprintf("%s gets %d, want %d with %s: %s", namespace, got, code, want, body)
		})
	}
	served("team-a", http.StatusOK, `"42"`)
	served("team-b", http.StatusOK, `"4200"`)
	served("thief", http.StatusServiceUnavailable, "source not granted to namespace thief")
	write("sources", "sources:\n"+source("b", "team-b"))
	served("team-a", http.StatusServiceUnavailable, "namespace team-a has no source of history")
	served("team-b", http.StatusOK, `"4200"`)
	write("sources", "sources:\n"+source("a", "team-a")+source("b", "team-b"))
	served("team-a", http.StatusOK, `"42"`)
	_, body := get(t, address+"/metrics")
	for _, want := range []string{
		`forewarm_sources_query_duration_seconds_count{source="store-a"}`, "forewarm_sources_last_reload_successful 1",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
}

// A request for a Forecast whose target is misspelled is answered with what was found instead, whether the Prometheus is the only source or a
// namespace's own, and with traces. The source is asked for that once in five minutes.
func TestACauseReachesTheErrorOfARequest(t *testing.T) {
	const misspelled = "apiVersion: forewarm.dev/v1alpha1\nkind: Forecast\nmetadata: {name: load, namespace: team-a}\n" +
		"spec: {targetRef: {kind: Deployment, name: chat70b}, signal: {preset: vllm/inflight}, quantile: '0.9', " +
		"leadTime: {mode: Fixed, duration: 1m}, step: 1s, history: 10m}\n"
	for name, configure := range map[string]func(o *Options, url string, write func(name, text string) string){
		"one source": func(o *Options, url string, _ func(string, string) string) { o.Prometheus.URL = url },
		"a source of the namespace": func(o *Options, url string, write func(string, string) string) {
			o.SourcesFile = write("sources", fmt.Sprintf("sources: [{name: a, url: %q, namespaces: [team-a]}]", url))
		},
		"one source, traced": func(o *Options, url string, write func(string, string) string) {
			_, endpoint := collect(t)
			o.Prometheus.URL = url
			o.TracingConfig = write("tracing", "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: "+endpoint+
				"\nsamplingRatePerMillion: 1000000\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				result, kind := "", "matrix"
				if r.URL.Path == "/api/v1/query" {
					kind = "vector"
					if r.FormValue("query") != "time()" { // Which reads the clock.
						asked.Add(1)
					}
					switch query := r.FormValue("query"); {
					case strings.Contains(query, `"row"`) && strings.Contains(query, "vllm:"):
						result = `{"metric":{"row":" Deployment/chat-70b"},"value":[1700000000,"3"]}`
					case strings.Contains(query, "count by (workload)"):
						result = `{"metric":{"workload":"Deployment/chat-70b"},"value":[1700000000,"3"]}`
					}
				}
				_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":[%s]}}`, kind, result)
			}))
			t.Cleanup(store.Close)
			dir, o := t.TempDir(), Defaults()
			write := func(name, text string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			write("forecasts.yaml", misspelled)
			o.Standalone, o.Local.Port, o.ConfigDir = true, 0, dir
			configure(&o, store.URL, write)
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			address, stop := serve(t, o)
			defer stop()
			const want = "3 pods in namespace team-a report vllm metrics, but none of them belongs to Deployment/chat70b. Did you mean chat-70b?"
			eventually(t, func() string {
				code, body := get(t, address+"/apis/external.metrics.k8s.io/v1beta1/namespaces/team-a/load")
				if code == http.StatusServiceUnavailable && strings.Contains(body, want) {
					return ""
				}
				return fmt.Sprintf("%d: %s", code, body)
			})
			first := asked.Load()
			time.Sleep(3 * time.Second) // Of which each is a step.
			if again := asked.Load(); first > 6 || again != first {
				t.Errorf("%d queries, and %d a few steps later", first, again)
			}
		})
	}
}
