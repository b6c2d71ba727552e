package expose_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/collect/collecttest"
	"github.com/forewarm/forewarm/pkg/agent/expose"
)

// BenchmarkScrape is what an answer costs with 56 pods on 56 instances and a whole hour of them, and what the process has of
// memory then (rss-MB, with what a test brings along).
func BenchmarkScrape(b *testing.B) {
	n := collecttest.MIGGPUs(8)
	c, err := collect.New(collect.DefaultConfig(), collect.Deps{
		Reader: n, Holders: n, Owners: n, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	now := collecttest.Start()
	for range 720 {
		c.Step(b.Context(), now)
		now = now.Add(5 * time.Second)
	}
	clock := func() time.Time { return now }
	registry := prometheus.NewRegistry()
	registry.MustRegister(expose.New(c.Board(), stale, clock))
	handler := expose.Handler(c.Board(), registry, stale, clock)
	for _, path := range []string{"metrics", "history"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			var w sink
			for b.Loop() {
				w = sink{header: http.Header{}}
				handler.ServeHTTP(&w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/"+path, nil))
			}
			if w.size < 10_000 {
				b.Fatalf("an answer of %d bytes", w.size)
			}
			b.ReportMetric(float64(w.size)/1024, "KiB")
			b.ReportMetric(resident(b), "rss-MB")
		})
	}
}

// sink is a client that takes everything and keeps nothing.
type sink struct {
	header http.Header
	size   int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) Write(p []byte) (int, error) {
	s.size += len(p)
	return len(p), nil
}

func (*sink) WriteHeader(int) {}

// resident is the memory of this process.
func resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	if err != nil || found == nil {
		b.Skip("no /proc/self/status to read the memory from")
	}
	kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes / 1024
}
