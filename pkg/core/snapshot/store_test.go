package snapshot_test

import (
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// numbered is a snapshot that is identified by its number of pending Forecasts.
func numbered(n int) *snapshot.Snapshot {
	return snapshot.New(time.Unix(0, 0), nil, n, snapshot.LoopStats{})
}

func open(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return false
	default:
		return true
	}
}

func TestAnEmptyBoardIsWatchedToo(t *testing.T) {
	var snapshots snapshot.Store
	newest, replaced := snapshots.Watch()
	if newest != nil || snapshots.Load() != nil || !open(replaced) {
		t.Fatalf("an empty snapshots shows %v, %v", newest, snapshots.Load())
	}
	_, again := snapshots.Watch()
	snapshots.Publish(numbered(1))
	if open(replaced) || open(again) {
		t.Error("the first snapshot woke not everyone who watched the empty snapshots")
	}
	if got := snapshots.Load(); got == nil || got.Pending != 1 {
		t.Errorf("the snapshots shows %+v, want the first snapshot", got)
	}
}

func TestWatchEndsWithTheNextSnapshotOnly(t *testing.T) {
	var snapshots snapshot.Store
	snapshots.Publish(numbered(1))
	newest, replaced := snapshots.Watch()
	if newest.Pending != 1 || !open(replaced) {
		t.Fatalf("watching %+v, want the first, and no news", newest)
	}
	snapshots.Publish(numbered(2))
	if open(replaced) {
		t.Error("a second snapshot is no news")
	}
	if newest, replaced = snapshots.Watch(); newest.Pending != 2 || !open(replaced) {
		t.Errorf("watching %+v, want the second, and no news", newest)
	}
}

// A watcher that waits for the last snapshot gets it, in whatever order publishers and watchers run: no wake-up is
// lost.
func TestNoNewsIsLost(t *testing.T) {
	const watchers, publishers, each = 8, 4, 200
	var (
		snapshots snapshot.Store
		watching  sync.WaitGroup
		writing   sync.WaitGroup
	)
	for range watchers {
		watching.Go(func() {
			for {
				newest, replaced := snapshots.Watch()
				if newest != nil && newest.Pending < 0 {
					return
				}
				<-replaced
			}
		})
	}
	for range publishers {
		writing.Go(func() {
			for i := range each {
				snapshots.Publish(numbered(i))
			}
		})
	}
	writing.Wait()
	snapshots.Publish(numbered(-1))
	done := make(chan struct{})
	go func() { watching.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("a watcher waits for a snapshot that has been published")
	}
}

// The first snapshot may be published while the first watchers see the empty store: none of them removes it.
func TestFirstWatchersTakeNothingDown(t *testing.T) {
	for range 3000 {
		var (
			snapshots snapshot.Store
			started   sync.WaitGroup
			all       sync.WaitGroup
		)
		started.Add(1)
		for range 4 {
			all.Go(func() { started.Wait(); snapshots.Watch() })
		}
		all.Go(func() { started.Wait(); snapshots.Publish(numbered(1)) })
		started.Done()
		all.Wait()
		if newest, replaced := snapshots.Watch(); newest == nil || !open(replaced) {
			t.Fatal("the first snapshot is gone")
		}
	}
}

func TestLoadingAllocatesNothing(t *testing.T) {
	var snapshots snapshot.Store
	snapshots.Publish(numbered(1))
	if n := testing.AllocsPerRun(100, func() { snapshots.Watch(); snapshots.Load() }); n != 0 {
		t.Errorf("%g allocations, want none", n)
	}
}
