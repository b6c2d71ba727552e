package serve_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// cpu is the time that the process spent on the CPU.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// resident is the process's memory in MiB, 0 where it cannot be read.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// BenchmarkServe is an HPA's request through TLS, authentication, authorization and the metrics library, with 50
// Forecasts and a different selector each time. The client lives in the same process: BenchmarkServeFloor measures it
// alone against a server that does nothing, and is to be taken off.
func BenchmarkServe(b *testing.B) {
	base, stub := startCluster(b, snapshottest.Store(snapshottest.Many(50)...), serve.AllGroups())
	client := insecureClient(b)
	waitReady(b, client, base)
	urls := make([]string, 300)
	for i := range urls {
		urls[i] = externalURL(base, "team-0", fmt.Sprintf("model-%d", i%10), fmt.Sprintf("quantile%%3D0.%d", 600+i))
	}
	measure(b, client, urls)
	b.ReportMetric(float64(len(stub.take())), "reviews")
}

// BenchmarkServeFloor is the same client and TLS against a handler that writes a fixed answer.
func BenchmarkServeFloor(b *testing.B) {
	base := startFixed(b)
	measure(b, insecureClient(b), []string{base})
}

func measure(b *testing.B, client *http.Client, urls []string) {
	b.Helper()
	for _, url := range urls[:min(len(urls), 10)] {
		if got := get(b, client, url, token("allowed")); got.code != http.StatusOK {
			b.Fatalf("%d %s", got.code, got.body)
		}
	}
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	before, n := cpu(b), 0
	for b.Loop() {
		if got := get(b, client, urls[n%len(urls)], token("allowed")); !strings.Contains(got.body, "value") {
			b.Fatal(got.body)
		}
		n++
	}
	each := (cpu(b) - before).Seconds() / float64(n)
	b.ReportMetric(each*1e6, "cpu-µs/op")
	b.ReportMetric(1/each, "req/core")
	b.ReportMetric(resident(), "RSS-MiB")
}
