package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	library "github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/dashboardtest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
	"github.com/forewarm/forewarm/pkg/source/embedded"
	"github.com/forewarm/forewarm/pkg/source/tenants"
)

// An objective, and a quantile. The newest sample of the test may be older than ten minutes when a step begins.
const dashboardForecasts = `
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: objective, namespace: team}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {query: 'sum(load{namespace="team"})'}
  price: "3"
  objective: {late: "1%", wait: 30s, measured: {query: '0 * sum(load{namespace="team"}) + 0.01'}}
  scaling: {target: "10", minReplicas: 1, maxReplicas: 40}
  leadTime: {mode: Fixed, duration: 5m}
  step: 5m
  history: 14d
  staleAfter: 30m
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: quantile, namespace: team}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {query: 'sum(load{namespace="team"})'}
  quantile: "0.95"
  leadTime: {mode: Fixed, duration: 5m}
  step: 5m
  history: 14d
  staleAfter: 30m
`

// scrapeTwice scrapes /metrics of a server with the embedded engine and KEDA's scaler, before and after some requests,
// and what only the leader in a cluster adds.
func scrapeTwice(t *testing.T) (first, last []*dto.MetricFamily) {
	t.Helper()
	address, scaler := startStandalone(t)
	conn, err := grpc.NewClient(scaler, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck,gosec // The server ends it.
	client := externalscaler.NewExternalScalerClient(conn)
	use := func() {
		t.Helper()
		ref := &externalscaler.ScaledObjectRef{
			Name: "web", Namespace: "team", ScalerMetadata: map[string]string{"forecast": "objective", "target": "10"},
		}
		if _, err := client.IsActive(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		page(t, address+"/apis/external.metrics.k8s.io/v1beta1/namespaces/team/objective")
	}
	use()
	leader, sources := append(leaderMetrics(t), clockMetrics(t)...), sourcesMetrics(t)
	text := page(t, address+"/metrics")
	lint(t, text)
	first = slices.Concat(sample(text), leader, sources())
	use()
	time.Sleep(time.Second) // The process uses its processor, and the engine scrapes.
	return first, slices.Concat(sample(page(t, address+"/metrics")), leader, sources())
}

// lint is promlint on every metric of ours, without an exception.
func lint(t *testing.T, text string) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "forewarm_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// leaderMetrics are those of a pool, of the API groups and of certificates, by the collectors that a cluster has.
func leaderMetrics(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	clock := &dashboardtest.Clock{}
	clock.Set(time.Now())
	collectors, err := dashboardtest.NewCluster(t.Context(), clock)
	if err != nil {
		t.Fatal(err)
	}
	snapshots := snapshottest.Store(snapshottest.Ready(snapshottest.Key("ready")))
	pools, err := dashboardtest.NewPools(snapshots, dashboardtest.Member{
		Forecast: snapshottest.Key("ready"), Target: 10, MaxReplicas: 40,
	}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err = pools.Step(t.Context(), snapshottest.Now().Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	fleets, err := dashboardtest.NewFleets(t.Context(), snapshots, dashboardtest.Member{
		Forecast: snapshottest.Key("ready"), Target: 10, MaxReplicas: 40,
	}, snapshottest.Now())
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(append(collectors, pools, fleets)...)
	return gather(t, registry)
}

// clockMetrics are those of the clock of a source, which only a server that was started for longer has read.
func clockMetrics(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(telemetry.New(snapshottest.Store(), snapshottest.Now, nil))
	return slices.DeleteFunc(gather(t, registry), func(f *dto.MetricFamily) bool {
		return f.GetName() != "forewarm_source_clock_ahead_seconds"
	})
}

// gather gathers metrics, and holds them against the conventions of Prometheus.
func gather(t *testing.T, registry *prometheus.Registry) []*dto.MetricFamily {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	return families
}

// sourcesMetrics returns what gathers the metrics of sources by namespace, of which one answers and one does not.
func sourcesMetrics(t *testing.T) func() []*dto.MetricFamily {
	t.Helper()
	history := httptest.NewServer(http.HandlerFunc(waves))
	t.Cleanup(history.Close)
	file := filepath.Join(t.TempDir(), "sources.yaml")
	text := fmt.Sprintf("sources:\n- {name: own, url: %q, namespaces: [team]}\n"+
		"- {name: down, url: 'http://127.0.0.1:1', namespaces: [team]}\n", history.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sources, err := tenants.Open(tenants.Config{File: file, Timeout: time.Minute, Now: time.Now},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sources.Close)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(sources)
	return func() []*dto.MetricFamily {
		t.Helper()
		for name, answers := range map[string]bool{"own": true, "down": false} {
			grant, err := sources.Find(name, "team")
			if err != nil {
				t.Fatal(err)
			}
			at := time.Unix(1_700_000_000, 0)
			q := refresh.Query{Namespace: "team", Source: grant.Source, Expr: "up", From: at, To: at, Step: time.Second}
			if _, err := sources.Fetch(t.Context(), q); (err == nil) != answers {
				t.Fatalf("%s: %v", name, err)
			}
		}
		return gather(t, registry)
	}
}

// dashboardNames holds the metrics that leaderMetrics gathers against those that the replicas of a cluster serve.
func dashboardNames(t *testing.T, s *scene) {
	t.Helper()
	var pages strings.Builder
	for _, r := range s.replicas {
		_, body := r.get(t, "/metrics")
		pages.WriteString(body)
	}
	for _, family := range leaderMetrics(t) {
		if !strings.Contains(pages.String(), "# TYPE "+family.GetName()+" ") {
			t.Errorf("no replica serves %s", family.GetName())
		}
	}
}

// startStandalone starts a server with two weeks of history in its engine, and a scrape target that cannot be reached.
func startStandalone(t *testing.T) (address, scaler string) {
	t.Helper()
	workload := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "load{namespace=\"team\"} %g\n", dashboardLoad(time.Now()))
	}))
	t.Cleanup(workload.Close)
	target, dir := strings.TrimPrefix(workload.URL, "http://"), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	scrape := write(
		"scrape.yaml",
		fmt.Sprintf(`scrape_configs: [{job_name: web, scrape_interval: 1s, scrape_timeout: 1s,
  static_configs: [{targets: [%q, "127.0.0.1:1"]}]}]`, target),
	)
	write("forecasts/forecasts.yaml", dashboardForecasts)
	backfillLoad(t, filepath.Join(dir, "data"), scrape, target)
	log := filepath.Join(dir, "log")
	file, err := os.Create(log) //nolint:gosec // A file of the test.
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "serve", "--standalone", "--port=0",
		"--keda-address=127.0.0.1:0", "--config-dir="+filepath.Join(dir, "forecasts"), "--scrape-config="+scrape,
		"--data-dir="+filepath.Join(dir, "data"))
	c.Env = append(os.Environ(), asForewarm+"=1")
	c.Stdout, c.Stderr = file, file
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() }) //nolint:errcheck,gosec // It is only scraped.
	eventually(t, func() string {
		said, err := os.ReadFile(log) //nolint:gosec // A file of the test.
		serving := regexp.MustCompile(`msg=serving address=(http://\S+)`).FindSubmatch(said)
		keda := regexp.MustCompile(`msg="serving KEDA" address=(\S+)`).FindSubmatch(said)
		if err != nil || serving == nil || keda == nil {
			return fmt.Sprintf("no addresses in the log (%v):\n%s", err, said)
		}
		address, scaler = string(serving[1]), string(keda[1])
		return ""
	})
	eventually(t, func() string {
		text := page(t, address+"/metrics")
		for _, name := range []string{
			"forewarm_objective_met{", "forewarm_candidate_loss_value{", "forewarm_scrapes_failed_total{",
		} {
			if !strings.Contains(text, name) {
				return name + " is not on /metrics"
			}
		}
		return ""
	})
	return address, scaler
}

// dashboardLoad is a day's wave with a ripple.
func dashboardLoad(at time.Time) float64 {
	hours := float64(at.Unix()) / 3600
	return 100 + 60*math.Sin(hours*2*math.Pi/24) + 8*math.Sin(hours*7.3)
}

// backfillLoad writes two weeks of the load, with the labels of the scraped series.
func backfillLoad(t *testing.T, dir, scrape, target string) {
	t.Helper()
	engine, err := embedded.Open(embedded.Config{Dir: dir, ScrapeFile: scrape}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	past := library.Series{Start: now.Add(-14 * 24 * time.Hour).Truncate(time.Minute), Step: time.Minute}
	for at := past.Start; at.Before(now); at = at.Add(past.Step) {
		past.Values = append(past.Values, dashboardLoad(at))
	}
	err = engine.Backfill(
		t.Context(),
		embedded.BackfillData{Before: now, Series: slices.Values([]embedded.BackfillSeries{{
			Labels: map[string]string{
				"__name__":  "load",
				"namespace": "team",
				"job":       "web",
				"instance":  target,
			},
			Series: past,
		}})},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
}

func page(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sample reads a page of /metrics.
func sample(text string) []*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	out := make([]*dto.MetricFamily, 0, len(families))
	for _, f := range families {
		out = append(out, f)
	}
	return out
}
