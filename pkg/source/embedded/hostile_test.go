package embedded_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// endless writes a text over and over, until so many bytes were written or the reader hangs up.
func endless(w io.Writer, text string, size int) {
	for written := 0; written < size; written += len(text) {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// hostile are answers of targets that mean no good, or are broken.
func hostile() []http.HandlerFunc {
	mega := strings.Repeat("x", 1<<20)
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	endless(packed, "# "+mega+"\n", 512<<20)
	packed.Close() //nolint:errcheck,gosec // Into memory.
	var churned atomic.Int64
	return []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { // A label of 20 MB.
			fmt.Fprint(w, `bomb{a="`) //nolint:errcheck // The engine hangs up.
			endless(w, mega, 20<<20)
			fmt.Fprint(w, "\"} 1\n") //nolint:errcheck // The engine hangs up.
		},
		func(w http.ResponseWriter, _ *http.Request) { // A label of 100 kB.
			fmt.Fprintf(w, "bomb{a=\"%s\"} 1\n", mega[:100_000]) //nolint:errcheck // The engine hangs up.
		},
		func(w http.ResponseWriter, _ *http.Request) { endless(w, "bomb 1\n"+mega+" 1\n", 1<<30) },
		func(w http.ResponseWriter, _ *http.Request) { // A bomb of 512 MB.
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes()) //nolint:errcheck,gosec // The engine hangs up.
		},
		func(w http.ResponseWriter, _ *http.Request) { // Series by the hundred thousand, others each time.
			out := bufio.NewWriter(w)
			from := churned.Add(300_000)
			for i := range int64(300_000) {
				fmt.Fprintf(out, "bomb{i=\"%d\"} 1\n", from+i) //nolint:errcheck // The engine hangs up.
			}
			out.Flush() //nolint:errcheck,gosec // The engine hangs up.
		},
		func(w http.ResponseWriter, _ *http.Request) {
			var labels strings.Builder
			for i := range 300 {
				fmt.Fprintf(&labels, "l%d=\"1\",", i)
			}
			fmt.Fprintf(w, "bomb{%s} 1\n", labels.String()) //nolint:errcheck // The engine hangs up.
		},
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(w http.ResponseWriter, _ *http.Request) { endless(w, "\xff\x00\n{\"", 1<<20) },
	}
}

// serve runs hostile targets, so many, until the test ends.
func serveHostile(tb testing.TB, targets int) (addresses []string) {
	tb.Helper()
	handlers := hostile()
	for i := range targets {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			handlers[i%len(handlers)](w, r)
		}))
		tb.Cleanup(s.Close)
		addresses = append(addresses, strings.TrimPrefix(s.URL, "http://"))
	}
	return addresses
}

// No target ends the process, has a sample stored that is beyond its limits, or delays another one; each is counted.
func TestHostileTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("hostile targets write gigabytes")
	}
	good := startExporter(t)
	addresses := serveHostile(t, len(hostile()))
	e := open(t, embedded.Config{ScrapeFile: scraping(t, good.address(), addresses...)})
	run(t, e)
	eventually(t, "the good target among hostile ones", func() bool {
		return latest(t, e, `sum(busy{namespace="ai"})`) == 0.75
	})
	eventually(t, "every hostile target was down", func() bool {
		return latest(t, e, `count(min_over_time(up{job!="gpus"}[1m]) == 0)`) == float64(len(addresses))
	})
	if n := latest(t, e, "count(last_over_time(bomb[1m]))"); !math.IsNaN(n) {
		t.Errorf("%v series of hostile targets are stored", n)
	}
	if n := e.Health().Series; n > 100 {
		t.Errorf("%d series in memory, want those of the good target and a few of each other's scrapes", n)
	}
	// A busy machine may be late with the good target, too.
	if n := testutil.CollectAndCount(e, "forewarm_scrapes_failed_total"); n < len(addresses) {
		t.Errorf("failed scrapes of %d targets are counted, want at least %d", n, len(addresses))
	}
}

// A target whose series are new all the time, each scrape within its limits, is held to its share once the storage is full;
// another one that starts then is stored.
func TestChurnIsBounded(t *testing.T) {
	var scrape atomic.Int64
	churning := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := bufio.NewWriter(w)
		from := scrape.Add(1)
		for i := range 3000 {
			fmt.Fprintf(out, "churn{i=\"%d-%d\"} 1\n", from, i) //nolint:errcheck // The engine hangs up.
		}
		out.Flush() //nolint:errcheck,gosec // The engine hangs up.
	}))
	t.Cleanup(churning.Close)
	const limit = 10_000
	late := startExporter(t)
	late.down.Store(true)
	file := scraping(t, late.address(), strings.TrimPrefix(churning.URL, "http://"))
	e := open(t, embedded.Config{ScrapeFile: file, MaxSeries: limit})
	run(t, e)
	eventually(t, "the target that churns is refused", func() bool {
		return scrape.Load() > limit/3000+1 && latest(t, e, `up{job="other-0"}`) == 0
	})
	late.down.Store(false)
	eventually(t, "another target is stored", func() bool { return latest(t, e, "sum(busy)") == 0.75 })
	if n := e.Health().Series; n < limit-3000 || n > limit {
		t.Errorf("%d series in memory, want most of %d", n, limit)
	}
}

// BenchmarkHostileTargets tells how much memory fifty hostile targets cost a process that scrapes them, compared with one that
// scrapes a good target alone.
func BenchmarkHostileTargets(b *testing.B) {
	const targets = 50
	good := startExporter(b)
	alone := peak(b, scraping(b, good.address()))
	besides := peak(b, scraping(b, good.address(), serveHostile(b, targets)...))
	b.ReportMetric(alone, "MB-alone")
	b.ReportMetric(besides, "MB-hostile")
	b.ReportMetric(0, "ns/op")
}

const scraperEnv = "FOREWARM_TEST_SCRAPES"

// scraper is what a child of the benchmark does instead of running tests.
func scraper(file string) error {
	dir, err := os.MkdirTemp("", "scraper")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	e, err := embedded.Open(embedded.Config{Dir: dir, ScrapeFile: file}, discard())
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	return errors.Join(e.Run(ctx), e.Close())
}

// peak is the most memory that a process held while it scraped for a minute, in MB.
func peak(b *testing.B, file string) float64 {
	b.Helper()
	child := exec.CommandContext(b.Context(), os.Args[0])
	child.Env = append(os.Environ(), scraperEnv+"="+file)
	child.Stderr = os.Stderr
	must(b, child.Start())
	time.Sleep(time.Minute)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", child.Process.Pid))
	if err != nil {
		b.Skipf("no /proc: %v", err)
	}
	must(b, errors.Join(child.Process.Signal(os.Interrupt), child.Wait()))
	lines := strings.Split(string(status), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "VmHWM:") })
	kB, err := strconv.Atoi(strings.Fields(lines[i])[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kB) / 1024
}
