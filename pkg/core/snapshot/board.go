package snapshot

import "sync/atomic"

// Board is where the newest snapshot hangs. The zero Board is ready to use and empty.
type Board struct {
	newest atomic.Pointer[sheet]
}

// sheet is a snapshot as it hangs on the board. The empty board's first watcher hangs one without a snapshot.
type sheet struct {
	snapshot *Snapshot
	// replaced is closed by whoever takes the sheet down. A sheet is taken down once, because Swap hands each one to one
	// caller only.
	replaced chan struct{}
}

// Publish replaces the newest snapshot and tells everyone who watches.
func (b *Board) Publish(s *Snapshot) {
	if old := b.newest.Swap(&sheet{snapshot: s, replaced: make(chan struct{})}); old != nil {
		close(old.replaced)
	}
}

// Load is the newest snapshot, nil before the first.
func (b *Board) Load() *Snapshot {
	if newest := b.newest.Load(); newest != nil {
		return newest.snapshot
	}
	return nil
}

// Watch is the newest snapshot, nil before the first, and a channel that is closed once there is a newer one. Whoever
// watches again then misses nothing but what has been replaced already. Nothing has to be given back.
func (b *Board) Watch() (*Snapshot, <-chan struct{}) {
	for {
		if newest := b.newest.Load(); newest != nil {
			return newest.snapshot, newest.replaced
		}
		b.newest.CompareAndSwap(nil, &sheet{replaced: make(chan struct{})})
	}
}
