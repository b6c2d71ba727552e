package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

var keep = flag.Bool("keep", false, "keep the clusters' folders, with all logs")

// endsOfLogs are those of the failed tests. They are printed after the tests, so that the report of one ends with what failed.
var endsOfLogs processtest.LogBuffer

func TestMain(m *testing.M) {
	if address := os.Getenv(bareServer); address != "" {
		fmt.Println(serveBare(address))
		os.Exit(1)
	}
	code := m.Run()
	fmt.Print(endsOfLogs.String())
	os.Exit(code)
}

// stage is a cluster with a Prometheus and the demand that it scrapes.
type stage struct {
	*clustertest.Cluster
	begin      time.Time
	demand     *demand
	prometheus *clustertest.Prometheus
	replicas   []*clustertest.Replica
}

// components are built once for all tests.
var components = sync.OnceValues(func() (clustertest.Components, error) {
	root, err := clustertest.Root()
	if err != nil {
		return clustertest.Components{}, err
	}
	return clustertest.Build(context.Background(), root)
})

// setUp starts a stage that ends with its test. If the test fails, the ends of all logs are printed after the tests.
func setUp(t *testing.T, o clustertest.Options) *stage {
	t.Helper()
	if os.Getenv("FOREWARM_E2E") == "" {
		t.Skip("FOREWARM_E2E is unset: run `make e2e`")
	}
	begin := time.Now()
	var err error
	if o.Components, err = components(); err != nil {
		t.Fatal(err)
	}
	t.Logf("components after %.1f s", time.Since(begin).Seconds())
	if o.Dir, err = os.MkdirTemp("", "forewarm-e2e-"); err != nil { //nolint:usetesting // -keep keeps it.
		t.Fatal(err)
	}
	t.Cleanup(func() { cleanUp(t, o.Dir) })
	c, err := clustertest.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range c.Processes() {
			t.Logf("%s held %d MiB", p.Name, p.ResidentMiB())
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("control plane after %.1f s", time.Since(begin).Seconds())
	return &stage{Cluster: c, begin: begin, demand: newDemand(t)}
}

// cleanUp removes a stage's folder, or logs where it is kept.
func cleanUp(t *testing.T, dir string) {
	t.Helper()
	if *keep {
		t.Logf("kept: %s", dir)
		return
	}
	if t.Failed() {
		logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil {
			t.Error(err)
		}
		for _, log := range logs {
			fmt.Fprintf(&endsOfLogs, "%s, %s:\n%s\n", t.Name(), filepath.Base(log), tail(log))
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}

func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// observe starts a Prometheus that scrapes the demand, and has further jobs.
func (s *stage) observe(t *testing.T, jobs ...string) {
	t.Helper()
	var err error
	s.prometheus, err = s.StartPrometheus(t.Context(), fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: demand
    honor_labels: true
    static_configs: [{targets: [%q]}]%s
`, s.demand.address, strings.Join(jobs, "")))
	if err != nil {
		t.Fatal(err)
	}
}

// forewarm installs Forewarm from a folder of deploy, starts replicas, and waits until the aggregator serves them.
func (s *stage) forewarm(t *testing.T, folder string, replicas int, args ...string) {
	t.Helper()
	if err := s.Install(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	for i := range replicas {
		r, err := s.StartForewarm(t.Context(), fmt.Sprintf("forewarm-%d", i),
			append(args, "--prometheus-url="+s.prometheus.URL)...)
		if err != nil {
			t.Fatal(err)
		}
		s.replicas = append(s.replicas, r)
	}
	if err := s.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("forewarm after %.1f s", time.Since(s.begin).Seconds())
}

// get runs kubectl get, which must succeed.
func (s *stage) get(t *testing.T, args ...string) string {
	t.Helper()
	return s.MustKubectl(t, append([]string{"get"}, args...)...)
}

// expectRejected returns the error of a kubectl command that must fail.
func (s *stage) expectRejected(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := s.Kubectl(t.Context(), input, args...)
	if err == nil {
		t.Errorf("kubectl %s works: %s", strings.Join(args, " "), out)
		return ""
	}
	return err.Error()
}

// repeat does something until it fails, which is an error of the test, or until the returned function is called, which waits for its
// end. Nothing fails once the test is over.
func repeat(t *testing.T, every time.Duration, do func() error) (stop func()) {
	t.Helper()
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for t.Context().Err() == nil {
			if err := do(); err != nil {
				if t.Context().Err() == nil {
					t.Error(err)
				}
				return
			}
			select {
			case <-quit:
				return
			case <-time.After(every):
			}
		}
	}()
	return func() { close(quit); <-over }
}

// expect waits until a value is as wanted.
func expect(t *testing.T, what string, read func(*testing.T) string, want string) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		if got := read(t); got != want {
			return fmt.Sprintf("%s: %s, want %s", what, got, want)
		}
		return ""
	})
}
