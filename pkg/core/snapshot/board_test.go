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
	var board snapshot.Board
	newest, replaced := board.Watch()
	if newest != nil || board.Load() != nil || !open(replaced) {
		t.Fatalf("an empty board shows %v, %v", newest, board.Load())
	}
	_, again := board.Watch()
	board.Publish(numbered(1))
	if open(replaced) || open(again) {
		t.Error("the first snapshot woke not everyone who watched the empty board")
	}
	if got := board.Load(); got == nil || got.Pending != 1 {
		t.Errorf("the board shows %+v, want the first snapshot", got)
	}
}

func TestWatchEndsWithTheNextSnapshotOnly(t *testing.T) {
	var board snapshot.Board
	board.Publish(numbered(1))
	newest, replaced := board.Watch()
	if newest.Pending != 1 || !open(replaced) {
		t.Fatalf("watching %+v, want the first, and no news", newest)
	}
	board.Publish(numbered(2))
	if open(replaced) {
		t.Error("a second snapshot is no news")
	}
	if newest, replaced = board.Watch(); newest.Pending != 2 || !open(replaced) {
		t.Errorf("watching %+v, want the second, and no news", newest)
	}
}

// A watcher that waits for the last snapshot gets it, in whatever order publishers and watchers run: no wake-up is
// lost.
func TestNoNewsIsLost(t *testing.T) {
	const watchers, publishers, each = 8, 4, 200
	var (
		board    snapshot.Board
		watching sync.WaitGroup
		writing  sync.WaitGroup
	)
	for range watchers {
		watching.Go(func() {
			for {
				newest, replaced := board.Watch()
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
				board.Publish(numbered(i))
			}
		})
	}
	writing.Wait()
	board.Publish(numbered(-1))
	done := make(chan struct{})
	go func() { watching.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("a watcher waits for a snapshot that has been published")
	}
}

// The first snapshot may be published while the first watchers see the empty board: none of them removes it.
func TestFirstWatchersTakeNothingDown(t *testing.T) {
	for range 3000 {
		var (
			board   snapshot.Board
			started sync.WaitGroup
			all     sync.WaitGroup
		)
		started.Add(1)
		for range 4 {
			all.Go(func() { started.Wait(); board.Watch() })
		}
		all.Go(func() { started.Wait(); board.Publish(numbered(1)) })
		started.Done()
		all.Wait()
		if newest, replaced := board.Watch(); newest == nil || !open(replaced) {
			t.Fatal("the first snapshot is gone")
		}
	}
}

func TestLoadingAllocatesNothing(t *testing.T) {
	var board snapshot.Board
	board.Publish(numbered(1))
	if n := testing.AllocsPerRun(100, func() { board.Watch(); board.Load() }); n != 0 {
		t.Errorf("%g allocations, want none", n)
	}
}
