package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

const interval = 100 * time.Millisecond

// exporter is a target that answers with a gauge, unless it is down.
type exporter struct {
	*httptest.Server
	down atomic.Bool
}

func startExporter(tb testing.TB) *exporter {
	tb.Helper()
	x := &exporter{}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if x.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		//nolint:errcheck // The engine hangs up when it stops.
		fmt.Fprint(w, "# TYPE busy gauge\nbusy{gpu=\"0\",namespace=\"own\"} 0.5\nbusy{gpu=\"1\"} 0.25\n")
	}))
	tb.Cleanup(x.Close)
	return x
}

func (x *exporter) address() string { return strings.TrimPrefix(x.URL, "http://") }

// run runs the engine until the test ends.
func run(t *testing.T, e *embedded.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// latest is the value now, NaN where there is none.
func latest(t *testing.T, e *embedded.Engine, expr string) float64 {
	t.Helper()
	now := time.Now().Truncate(interval)
	got, err := e.Fetch(t.Context(), refresh.Query{Expr: expr, From: now, To: now, Step: interval})
	if err != nil {
		return math.NaN()
	}
	return got.Values[0]
}

// eventually waits for a condition, at most half a minute: the machine may be busy.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(interval / 2) {
		if holds() {
			return
		}
	}
	t.Fatalf("half a minute passed, but not: %s", what)
}

// scraping is a file with a job for the first address, and one for each other that has more time.
func scraping(tb testing.TB, first string, others ...string) (path string) {
	tb.Helper()
	const job = "- {job_name: %s, scrape_interval: %s, scrape_timeout: %[2]s, static_configs: [{targets: [%[3]q], " +
		"labels: {namespace: ai}}]}\n"
	text := []string{"scrape_configs:\n", fmt.Sprintf(job, "gpus", interval, first)}
	for i, address := range others {
		text = append(text, fmt.Sprintf(job, fmt.Sprintf("other-%d", i), "2s", address))
	}
	path = filepath.Join(tb.TempDir(), "scrape.yml")
	write(tb, path, strings.Join(text, ""))
	return path
}

// A target's life: it appears, goes down (a gap at once), comes back, and is there after a restart.
func TestScrape(t *testing.T) {
	x := startExporter(t)
	cfg := embedded.Config{Dir: t.TempDir(), ScrapeFile: scraping(t, x.address())}
	e := open(t, cfg)
	stop := run(t, e)
	total := func() float64 { return latest(t, e, `sum(busy{namespace="ai"})`) }
	eventually(t, "the target's total", func() bool { return total() == 0.75 })
	if latest(t, e, `sum(busy{exported_namespace="own"})`) != 0.5 {
		t.Error("the target's own label namespace is not kept as exported_namespace")
	}
	if health := e.Health(); health.Series == 0 {
		t.Errorf("health %+v, want series", health)
	}
	// A series of one scrape only ends after the lookback.
	eventually(t, "a second scrape", func() bool { return latest(t, e, "min(count_over_time(busy[1m]))") >= 2 })
	x.down.Store(true)
	eventually(t, "a gap", func() bool { return math.IsNaN(total()) })
	x.down.Store(false)
	eventually(t, "the target again", func() bool { return total() == 0.75 })
	stop()
	at := e.Health().To.Truncate(interval)
	q := refresh.Query{Expr: "sum(count_over_time(busy[1m]))", From: at, To: at, Step: interval}
	before := fetch(t, e, q)
	equal(t, before, fetch(t, reopen(t, e, cfg), q))
}

// What is backfilled and what is scraped are one series.
func TestScrapeGoesOnFromBackfill(t *testing.T) {
	x := startExporter(t)
	e := open(t, embedded.Config{ScrapeFile: scraping(t, x.address())})
	now := time.Now().Truncate(time.Second)
	p := backfillSeries(time.Second, rising(60)...)
	p.Labels = map[string]string{
		"__name__": "busy", "job": "gpus", "instance": x.address(), "namespace": "ai", "gpu": "1",
	}
	p.Series.Start = now.Add(-60 * time.Second)
	backfill(t, e, p)
	run(t, e)
	eventually(t, "the live value", func() bool { return latest(t, e, `busy{gpu="1"}`) == 0.25 })
	got, err := e.Fetch(t.Context(), refresh.Query{
		Expr: `busy{gpu="1"}`, From: p.Series.Start, To: p.Series.Start.Add(10 * time.Second), Step: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, rising(11), got.Values)
}

const scrapeFile = `
global: {scrape_interval: 45s}
rule_files: [rules.yml]
scrape_configs:
  - job_name: vllm
    scrape_interval: 100ms
    scrape_timeout: 100ms
    static_configs:
      - targets: ["ADDRESS"]
        labels: {pod: llama-0}
    relabel_configs:
      - {target_label: namespace, replacement: prod}
    metric_relabel_configs:
      - {source_labels: [gpu], regex: "1", action: drop}
  - job_name: files
    scrape_interval: 100ms
    scrape_timeout: 100ms
    file_sd_configs:
      - files: [targets.json]
`

func TestScrapeFile(t *testing.T) {
	x := startExporter(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "scrape.yml")
	write(t, path, strings.ReplaceAll(scrapeFile, "ADDRESS", x.address()))
	write(t, filepath.Join(dir, "targets.json"), `[{"targets":["`+x.address()+`"],"labels":{"from":"file"}}]`)
	log := &processtest.LogBuffer{}
	e, err := embedded.Open(embedded.Config{Dir: filepath.Join(dir, "data"), ScrapeFile: path}, slog.New(
		slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, e)
	run(t, e)
	eventually(t, "the static target, relabelled", func() bool {
		return latest(t, e, `sum(busy{job="vllm",pod="llama-0",namespace="prod"})`) == 0.5
	})
	eventually(t, "the target of the file", func() bool { return latest(t, e, `sum(busy{from="file"})`) == 0.75 })
	if !strings.Contains(log.String(), "rule_files") {
		t.Errorf("the log does not say that rule_files is ignored:\n%s", log)
	}
}

func TestScrapeFileErrors(t *testing.T) {
	for says, text := range map[string]string{
		"file_sd_configs are supported": "scrape_configs: [{job_name: k, kubernetes_sd_configs: [{role: pod}]}]",
		"scrape_configz":                "scrape_configz: []",
		"multiple scrape configs":       "scrape_configs: [{job_name: a}, {job_name: a}]",
		`"a": body_size_limit is 16MiB`: "scrape_configs: [{job_name: a, body_size_limit: 16MiB}]",
		`"b": sample_limit is 1000000`:  "{global: {sample_limit: 1000000}, scrape_configs: [{job_name: b}]}",
		`"c": scrape_timeout is 1m`:     "scrape_configs: [{job_name: c, scrape_interval: 1m, scrape_timeout: 1m}]",
		"not a valid hostname":          "scrape_configs: [{job_name: a, static_configs: [{targets: ['http://a/b']}]}]",
		"mapping values":                "a: b: c",
	} {
		path := filepath.Join(t.TempDir(), "scrape.yml")
		write(t, path, text)
		_, err := embedded.Open(embedded.Config{Dir: t.TempDir(), ScrapeFile: path}, discard())
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one that names the file and says %q", err, says)
		}
	}
}

// A damaged log costs what cannot be read of it, with a warning, and not the start.
func TestCorruptedLog(t *testing.T) {
	x := startExporter(t)
	dir := t.TempDir()
	cfg := embedded.Config{Dir: dir, ScrapeFile: scraping(t, x.address())}
	e := open(t, cfg)
	stop := run(t, e)
	eventually(t, "samples", func() bool { return latest(t, e, "sum(count_over_time(busy[1m]))") >= 6 })
	stop()
	must(t, e.Close())
	segment := filepath.Join(dir, "wal", "00000000")
	content, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content)/2+40; i++ {
		content[i] ^= 0xff
	}
	write(t, segment, string(content))
	log := &processtest.LogBuffer{}
	e, err = embedded.Open(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatalf("a damaged log: %v", err)
	}
	closeAfter(t, e)
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "repair") {
		t.Errorf("the log does not warn of the repair:\n%s", log)
	}
	run(t, e)
	eventually(t, "new samples", func() bool { return latest(t, e, `sum(busy)`) == 0.75 })
}

func TestRunTwice(t *testing.T) {
	e := open(t, embedded.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	failed := make(chan error, 2)
	for range 2 {
		go func() { failed <- e.Run(ctx) }()
	}
	if a, b := <-failed, <-failed; (a == nil) == (b == nil) {
		t.Errorf("errors %v and %v, want that one of two runs is refused", a, b)
	}
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	must(tb, os.WriteFile(path, []byte(text), 0o600))
}
