package modelserver_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/modelserver"
)

// run steps an engine until it is idle and returns how long it took.
func run(t *testing.T, e *modelserver.Engine) (took time.Duration) {
	t.Helper()
	for range 1_000_000 {
		step := e.Begin()
		if step == 0 {
			return took
		}
		took += step
		e.End()
	}
	t.Fatal("the engine does not become idle")
	return 0
}

// TestAlone: a request alone takes its prompt in chunks and a step for each token.
func TestAlone(t *testing.T) {
	t.Parallel()
	c := modelserver.Default()
	e := modelserver.New(c)
	e.Add(&modelserver.Request{Prompt: 1200, Output: 200})
	// Three chunks, of which the last yields the first token, and 199 decodes.
	want := 3*c.Step + 1200*c.PerToken + 199*(c.Step+c.PerSequence)
	if took := run(t, e); took != want {
		t.Errorf("a request alone takes %s, want %s", took, want)
	}
}

// TestSaturated: of more than the batch holds the rest waits in order, and each second completes what a replica sustains.
func TestSaturated(t *testing.T) {
	t.Parallel()
	e := modelserver.New(modelserver.Default())
	const requests = 200
	var order []int
	for i := range requests {
		e.Add(&modelserver.Request{Prompt: 1200, Output: 200, Started: func() { order = append(order, i) }})
	}
	e.Begin()
	e.End()
	full := 0
	for e.Begin() > 0 {
		full = max(full, e.Running())
		if e.Usage() > 1 {
			t.Fatalf("the cache is %.2f full", e.Usage())
		}
		e.End()
	}
	if full != 16 || len(order) != requests {
		t.Errorf("%d ran at once and %d were started, want 16 and %d", full, len(order), requests)
	}
	for i, started := range order {
		if i != started {
			t.Fatalf("request %d was started as number %d", started, i)
		}
	}
	again := modelserver.New(modelserver.Default())
	for range requests {
		again.Add(&modelserver.Request{Prompt: 1200, Output: 200})
	}
	if rate := requests / run(t, again).Seconds(); math.Abs(rate-2.5) > 0.1 {
		t.Errorf("a replica completes %.2f requests in a second, want about 2.5", rate)
	}
}

// TestPreempted: a cache that is too small makes the newest begin again, and all are served nevertheless.
func TestPreempted(t *testing.T) {
	t.Parallel()
	c := modelserver.Default()
	c.Cache = 4000
	e := modelserver.New(c)
	started, done := 0, 0
	for range 8 {
		e.Add(&modelserver.Request{
			Prompt: 900, Output: 400,
			Started: func() { started++ }, Done: func() { done++ },
		})
	}
	run(t, e)
	if started != 8 || done != 8 || e.Usage() != 0 {
		t.Errorf(
			"%d were started and %d done, with %.2f of the cache in use at the end, want 8, 8 and 0",
			started,
			done,
			e.Usage(),
		)
	}
}
