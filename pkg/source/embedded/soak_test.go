package embedded_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

const (
	// The embedded engine scrapes so many jobs of so many series, of which the newest tenth changes its labels each minute.
	engineJobs, engineSeries = 10, 1000
	engineInterval           = 5 * time.Second
	// engineKills is how often it is killed, at least.
	engineKills = 100
	engineDisk  = 800 << 20
)

// engineTarget answers scrapes. The value of each series is the number of the scrape.
type engineTarget struct {
	begun time.Time

	mu sync.Mutex
	// answered are the times of the answers to each job.
	answered [engineJobs][]time.Time
}

func (e *engineTarget) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	job, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || job >= engineJobs {
		http.NotFound(w, r)
		return
	}
	e.mu.Lock()
	number := len(e.answered[job])
	e.mu.Unlock()
	minute := int(time.Since(e.begun).Minutes())
	var out strings.Builder
	for i := range engineSeries {
		generation := 0
		if i%10 > 0 { // A tenth never changes.
			generation = (minute + i%10) / 9
		}
		fmt.Fprintf(&out, "load{model=\"%d\",generation=\"%d\"} %d\n", i, generation, number)
	}
	if _, err := w.Write([]byte(out.String())); err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answered[job] = append(e.answered[job], time.Now())
}

// span is a time from one moment to another.
type span struct{ from, to time.Time }

// TestSoak scrapes ten thousand series, whose labels change, while the process is killed a hundred times at random moments and
// the disk is full at others. Every sample that was scraped before a kill or while the disk was full is there in the end, once.
func TestSoak(t *testing.T) {
	text := os.Getenv("FOREWARM_SOAK")
	if text == "" {
		t.Skip("FOREWARM_SOAK is unset: run `make soak`")
	}
	length, err := time.ParseDuration(text)
	must(t, err)
	dir := smallDisk(t, strconv.Itoa(engineDisk))
	e := &engineTarget{begun: time.Now()}
	server := httptest.NewServer(e)
	defer server.Close()
	forewarm := engineProgram(t, dir, strings.TrimPrefix(server.URL, "http://"))
	process := forewarm()
	var away, full []span
	var recoveries []time.Duration
	restart := func() {
		from := time.Now()
		process.Kill()
		process = forewarm()
		must(
			t,
			process.AwaitHealthy(
				t.Context(),
				time.Minute,
				http.DefaultClient,
				"http://"+engineAddress(process)+"/livez",
			),
		)
		away = append(away, span{from, time.Now()})
		recoveries = append(recoveries, time.Since(from))
	}
	largestDisk, begun := int64(0), time.Now()
	for time.Since(begun) < length || len(recoveries) < engineKills {
		time.Sleep(time.Duration(rand.Int64N(int64(2*length/engineKills) + 1))) //nolint:gosec // A test's draw.
		largestDisk = max(largestDisk, diskUsage(t, dir))
		restart()
		if rand.IntN(40) == 0 { //nolint:gosec // A test's draw.
			full = append(full, fillDisk(t, dir, 2*engineInterval, restart))
		}
	}
	resident := process.ResidentMiB()
	if err := process.Stop(); err != nil {
		t.Error(err)
	}
	slices.Sort(recoveries)
	t.Logf(
		"%d kills: up again after %s in the middle, %s at most; the disk was full %d times; it held %d MiB at most, the process %d MiB",
		len(
			recoveries,
		),
		recoveries[len(recoveries)/2].Round(time.Millisecond),
		recoveries[len(recoveries)-1].Round(time.Millisecond),
		len(full),
		largestDisk>>20,
		resident,
	)
	e.expect(t, filepath.Join(dir, "data"), append(away, full...))
}

// engineProgram prepares a Forewarm with the embedded engine, and returns what starts it.
func engineProgram(t *testing.T, dir, target string) (start func() *processtest.Process) {
	t.Helper()
	binary, err := filepath.Abs("../../../bin/forewarm")
	must(t, err)
	var jobs, forecasts strings.Builder
	jobs.WriteString("scrape_configs:\n")
	for i := range engineJobs {
		fmt.Fprintf(
			&jobs,
			"  - {job_name: \"%d\", metrics_path: /%[1]d, scrape_interval: %s, static_configs: [{targets: [%q]}]}\n",
			i,
			engineInterval,
			target,
		)
		fmt.Fprintf(&forecasts, `---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: model-%d, namespace: soak}
spec: {targetRef: {kind: Deployment, name: llama}, signal: {query: 'sum(load{job="%[1]d"})'}, step: 15s, quantile: "0.95"}
`, i)
	}
	configs := t.TempDir()
	for file, text := range map[string]string{"scrape.yaml": jobs.String(), "forecasts/all.yaml": forecasts.String()} {
		path := filepath.Join(configs, file)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o750),
			os.WriteFile(path, []byte(text), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	return func() *processtest.Process {
		port, err := processtest.FreePort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := processtest.Program{Name: fmt.Sprintf("engine-%d", port), Binary: binary, Args: []string{
			"serve", "--standalone", "--config-dir=" + filepath.Join(configs, "forecasts"),
			"--scrape-config=" + filepath.Join(configs, "scrape.yaml"), "--data-dir=" + filepath.Join(dir, "data"),
			"--retention-size=256MB", "--cluster-query-namespaces=soak", fmt.Sprintf("--port=%d", port),
		}}.Start(configs)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// engineAddress is where a process of engineProgram listens: its port is in its name.
func engineAddress(p *processtest.Process) string {
	return "127.0.0.1:" + strings.TrimPrefix(p.Name, "engine-")
}

func diskUsage(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != "filler" {
			if info, gone := entry.Info(); gone == nil {
				bytes += info.Size()
			}
		}
		return nil // Files go while they are counted.
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// fillDisk fills the disk for a while, in half of the cases with a kill in it.
func fillDisk(t *testing.T, dir string, lasting time.Duration, kill func()) span {
	t.Helper()
	from := time.Now()
	empty := fill(t, dir, 4<<20) // What is written meanwhile needs room for the filler to be made.
	time.Sleep(lasting)
	if rand.IntN(2) == 0 { //nolint:gosec // A test's draw.
		kill()
	}
	empty()
	return span{from, time.Now()}
}

// expect reads what is stored of every hundredth series that never changed.
func (e *engineTarget) expect(t *testing.T, dir string, except []span) {
	t.Helper()
	engine, err := embedded.Open(embedded.Config{Dir: dir}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close() //nolint:errcheck // Read only.
	stored, lost := 0, 0
	for job := range engineJobs {
		for i := 0; i < engineSeries; i += 100 {
			got, err := engine.Fetch(t.Context(), refresh.Query{
				Expr: fmt.Sprintf(`sum(load{job="%d",model="%d"})`, job, i), Step: time.Second,
				From: e.begun.Truncate(time.Second), To: time.Now().Truncate(time.Second),
			})
			if err != nil {
				t.Fatal(err)
			}
			there, before := map[int]bool{}, -1.0
			for at, v := range got.Values {
				if v < before {
					t.Fatalf("job %d, model %d: scrape %v after %v at %s", job, i, v, before, got.TimeAt(at))
				}
				if v >= 0 {
					before = v
					there[int(v)] = true
				}
			}
			for number, at := range e.answered[job] {
				switch {
				case there[number]:
					stored++
				case !mayBeLost(at, except):
					lost++
					if lost <= 5 {
						t.Errorf(
							"job %d, model %d: scrape %d of %s is lost",
							job,
							i,
							number,
							at.UTC().Format(time.TimeOnly),
						)
					}
				}
			}
		}
	}
	t.Logf("%d samples of %d scrapes are there, %d are lost", stored, len(e.answered[0]), lost)
	if stored == 0 {
		t.Error("nothing is stored")
	}
}

// mayBeLost reports whether a scrape was answered during a kill, when its samples were not committed yet, or while the disk was full.
func mayBeLost(at time.Time, except []span) bool {
	const committed, resumed = time.Second, 2 * engineInterval
	return slices.ContainsFunc(except, func(s span) bool {
		return at.After(s.from.Add(-committed)) && at.Before(s.to.Add(resumed))
	})
}
