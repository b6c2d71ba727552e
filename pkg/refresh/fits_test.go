package refresh //nolint:testpackage // The turns of jobs are not seen from outside.

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// A namespace with many jobs takes every second turn alongside one with few, whose steps come before its rebuilds.
func TestNamespacesTakeTurns(t *testing.T) {
	f := newFits()
	f.free = 1
	var (
		mu    sync.Mutex
		order []string
		jobs  sync.WaitGroup
	)
	hold := make(chan struct{})
	jobs.Go(func() { f.run("greedy", true, func() { <-hold }) })
	queued := func() (n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, own := range f.waiting {
			n += len(own.steps) + len(own.rebuilds)
		}
		return n
	}
	wait := func(what func() bool) {
		for !what() {
			time.Sleep(time.Millisecond)
		}
	}
	wait(func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.free == 0 })
	for i, job := range []struct {
		namespace string
		rebuild   bool
	}{
		{"greedy", true},
		{"greedy", true},
		{"greedy", true},
		{"greedy", true},
		{"victim", true},
		{"victim", false},
		{"other", false},
	} {
		name := job.namespace
		if !job.rebuild {
			name += " steps"
		}
		jobs.Go(func() {
			f.run(job.namespace, job.rebuild, func() {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
			})
		})
		wait(func() bool { return queued() == i+1 })
	}
	close(hold)
	jobs.Wait()
	want := []string{"other steps", "victim steps", "greedy", "victim", "greedy", "greedy", "greedy"}
	if !slices.Equal(order, want) || f.free != 1 || len(f.waiting) != 0 {
		t.Errorf("%q, %d free, %d wait; want %q", order, f.free, len(f.waiting), want)
	}
}
