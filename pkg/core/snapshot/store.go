package snapshot

import "sync/atomic"

// Store holds the newest snapshot. The zero Store is ready to use and empty.
type Store struct {
	newest atomic.Pointer[publication]
}

// publication is a published snapshot. The first watcher of an empty store publishes one without a snapshot.
type publication struct {
	snapshot *Snapshot
	// replaced is closed when the publication is replaced. That happens once, because Swap returns each publication to
	// one caller only.
	replaced chan struct{}
}

// Publish replaces the newest snapshot and wakes all watchers.
func (b *Store) Publish(s *Snapshot) {
	if old := b.newest.Swap(&publication{snapshot: s, replaced: make(chan struct{})}); old != nil {
		close(old.replaced)
	}
}

// Load returns the newest snapshot, nil before the first.
func (b *Store) Load() *Snapshot {
	if newest := b.newest.Load(); newest != nil {
		return newest.snapshot
	}
	return nil
}

// Watch returns the newest snapshot, nil before the first, and a channel that is closed when there is a newer one. A
// watcher that watches again skips only snapshots that were already replaced. Nothing has to be released.
func (b *Store) Watch() (*Snapshot, <-chan struct{}) {
	for {
		if newest := b.newest.Load(); newest != nil {
			return newest.snapshot, newest.replaced
		}
		b.newest.CompareAndSwap(nil, &publication{replaced: make(chan struct{})})
	}
}
