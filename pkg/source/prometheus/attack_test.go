package prometheus_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// One namespace has 500 Forecasts with histories of 50,000 points, all that it may have, patches them at every step, and asks for
// eight answers of 16 MiB each time. Another namespace's sample is never older than two steps, and the process stays within the
// memory of the default container.
func TestAttackOfOneNamespace(t *testing.T) {
	if os.Getenv("FOREWARM_ATTACK") == "" {
		t.Skip("minutes of two processors: make test-attack")
	}
	const memory, step = 1 << 30, 30 * time.Second
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memory / 10 * 9)) // As the server sets it.
	s := source(t, http.HandlerFunc(hostileStore))
	target := func(namespace, name, expr string) refresh.Job {
		return refresh.Job{
			Key: snapshot.Key{Namespace: namespace, Name: name}, Generation: 1, Expr: expr, Step: step,
			History: 50_000 * step, Lead: 5 * time.Minute, StaleAfter: 10 * time.Minute,
			Settings: decide.Settings{Quantile: 0.95, Lead: 5 * time.Minute},
		}
	}
	targets := []refresh.Job{target("good", "victim", "demand")}
	for i := range 500 {
		targets = append(targets, target("greedy", fmt.Sprint("heavy-", i), "demand"))
	}
	for i := range 8 {
		targets = append(targets, target("greedy", fmt.Sprint("huge-", i), "huge"))
	}
	asked := &changingTargets{targets}
	loop, err := refresh.New(refresh.Config{}, s, asked, new(snapshot.Store), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(step)
	for i := range 24 {
		begun := time.Now()
		e := loop.Step(t.Context(), now).Get(targets[0].Key)
		age := now.Sub(e.SampleTime)
		t.Logf("step %d: %s, the victim's sample is %s old; %.1f s, at most %d MiB", i, e.State, age,
			time.Since(begun).Seconds(), peakMemory(t)>>20)
		if i > 0 && (e.State != snapshot.Ready || age > 2*step) {
			t.Errorf("the victim is %s, with a sample of %s ago", e.State, age)
		}
		for j := range targets[1:] {
			targets[1+j].Generation++
		}
		now = now.Add(step)
		time.Sleep(5 * time.Second) // Of the step's 30 s: the fits under way go on.
	}
	if peak := peakMemory(t); peak > memory {
		t.Errorf("the process took %d MiB", peak>>20)
	}
	asked.targets = nil
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := loop.Run(over, noClock{}); err != nil { // Waits for what is under way.
		t.Error(err)
	}
}

type changingTargets struct{ targets []refresh.Job }

func (c *changingTargets) List(time.Time) []refresh.Job { return c.targets }

// noClock stands at one time, and ends a loop that would wait for another.
type noClock struct{}

func (noClock) Now() time.Time { return time.Unix(0, 0) }

func (noClock) WaitUntil(ctx context.Context, _ time.Time) error { return ctx.Err() }

// hostileStore answers a demand of the asked range, or thousands of series that no one asked for.
func hostileStore(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	start, errStart := strconv.ParseFloat(r.FormValue("start"), 64)
	end, errEnd := strconv.ParseFloat(r.FormValue("end"), 64)
	if errStart != nil || errEnd != nil {
		http.Error(w, "no range", http.StatusBadRequest)
		return
	}
	text := []byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[`)
	for at := int64(start); at <= int64(end); at += 30 {
		text = fmt.Appendf(text, `[%d,"%d"],`, at, 100+at/30%97)
	}
	send(w, string(text[:len(text)-1])+`]}`)
	for i := 0; i < 16<<10 && r.FormValue("query") == "huge"; i++ {
		send(w, fmt.Sprintf(`,{"metric":{"pod":"%01000d"},"values":[[%d,"1"]]}`, i, int64(start)))
	}
	send(w, `]}}`)
}

// peakMemory is the most memory that the process has had, in bytes.
func peakMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("the memory of a process is read on Linux alone: %v", err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatal("no VmHWM in /proc/self/status")
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
