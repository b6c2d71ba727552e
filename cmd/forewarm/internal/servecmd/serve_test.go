package servecmd //nolint:testpackage // The server without the command line, on a port of its own.

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines is a log that is written and read at once.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

const objects = `apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: load, namespace: team}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {query: 'sum(load{namespace="team"})'}
  quantile: "0.9"
  leadTime: {mode: Fixed, duration: 1m}
  step: 1s
  history: 10m
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: broken, namespace: team}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {preset: no/such}
`

// options write everything that a standalone server reads, and scrape a page whose load is 40 + 2.
func options(t *testing.T) Options {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(
			w,
			"load{namespace=\"team\",pod=\"a\"} 40\nload{namespace=\"team\",pod=\"b\"} 2\nload{namespace=\"other\"} 9\n",
		)
	}))
	t.Cleanup(page.Close)
	dir := t.TempDir()
	scrape := fmt.Sprintf("scrape_configs: [{job_name: web, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]",
		strings.TrimPrefix(page.URL, "http://"))
	for name, text := range map[string]string{"scrape.yaml": scrape, "objects/forecasts.yaml": objects} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Defaults()
	o.Standalone, o.Local.Port = true, 0
	o.ConfigDir, o.ScrapeConfig, o.DataDir = filepath.Join(
		dir,
		"objects",
	), filepath.Join(
		dir,
		"scrape.yaml",
	), filepath.Join(
		dir,
		"data",
	)
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o
}

// serve runs the server until the returned function is called, and returns its address.
func serve(t *testing.T, o Options) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, done := &lines{}, make(chan error, 1)
	go func() { done <- run(ctx, o, slog.New(slog.NewTextHandler(log, nil))) }()
	serving := regexp.MustCompile(`msg=serving address=(http://\S+)`)
	eventually(t, func() string {
		if found := serving.FindStringSubmatch(log.String()); found != nil {
			address = found[1]
			return ""
		}
		return "no address in the log:\n" + log.String()
	})
	return address, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with: %v\n%s", err, log)
		}
	}
}

// eventually waits until nothing is wrong any more.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		text := wrong()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func get(t *testing.T, url string) (int, string) {
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
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestStandaloneFromScrapeToMetric(t *testing.T) {
	o := options(t)
	address, stop := serve(t, o)
	const external = "/apis/external.metrics.k8s.io/v1beta1/namespaces/team/"
	eventually(t, func() string {
		code, body := get(t, address+external+"load")
		if code == http.StatusOK && strings.Contains(body, `"42"`) {
			return ""
		}
		return fmt.Sprintf("the metric answers %d, want 42: %s", code, body)
	})
	if code, body := get(t, address+"/readyz"); code != http.StatusOK || !strings.Contains(body, "[+]forecasts ok") {
		t.Errorf("readyz answers %d: %s", code, body)
	}
	if code, body := get(
		t,
		address+external+"broken",
	); code == http.StatusOK ||
		!strings.Contains(body, "dcgm/gpu-busy") {
		t.Errorf("a Forecast with an unknown preset answers %d without the known ones: %s", code, body)
	}
	stop()

	// The history of before the restart is there, and served again.
	address, stop = serve(t, o)
	defer stop()
	eventually(t, func() string {
		code, body := get(t, address+external+"load")
		if code == http.StatusOK {
			return ""
		}
		return fmt.Sprintf("after a restart the metric answers %d: %s", code, body)
	})
}

func TestWhatCannotBeOpenedEndsTheServer(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*Options)
	}{
		{"a scrape file that is not there", "none.yaml", func(o *Options) { o.ScrapeConfig = "none.yaml" }},
		{"a folder that is not there", "none", func(o *Options) { o.ConfigDir = "none" }},
		{"data in a file", "not a directory", func(o *Options) { o.DataDir = filepath.Join(o.ScrapeConfig, "file") }},
		{"no cluster", "--kubeconfig", func(o *Options) { o.Standalone, o.ConfigDir = false, "" }},
	} {
		o := options(t)
		c.change(&o)
		err := run(t.Context(), o, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
