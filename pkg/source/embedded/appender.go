package embedded

import (
	"context"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// refBits are those of a series' reference that the storage uses: 40, of which the others are left for the count of its
// openings.
const refBits = 48

var (
	_ storage.AppendableV2 = (*store)(nil)
	_ storage.GetRef       = (*appender)(nil)
)

// AppenderV2 implements storage.AppendableV2. While no sample is stored it takes them and drops them: the fault has been
// logged and is shown, and need not be once more for every scrape.
func (s *store) AppenderV2(ctx context.Context) storage.AppenderV2 { //nolint:ireturn // The interface says so.
	return &appender{store: s, ctx: ctx}
}

// appender is one of the storage's that is not made before the first sample: a scrape has its own long before.
type appender struct {
	store *store
	ctx   context.Context //nolint:containedctx // That of the call that made it, which has the same life.
	inner storage.AppenderV2
	// drops says that no samples were stored at the first of this scrape: none of it is.
	drops bool
	// age is the count of the storage's openings in the place where references carry it; release lets go of the storage.
	age     uint64
	release func()
}

// begin makes the storage's appender, if samples are stored. From then on to the end the storage is not replaced.
func (a *appender) begin() bool {
	if a.inner != nil || a.drops {
		return !a.drops
	}
	db, release, err := a.store.acquire()
	if err != nil {
		a.drops = true
		return false
	}
	a.release, a.age = release, a.store.opened<<refBits
	a.inner = db.AppenderV2(a.ctx)
	return true
}

// known is a reference as the storage knows it; 0 if it is from before it was opened anew, when it may have been another
// series'.
func (a *appender) known(ref storage.SeriesRef) storage.SeriesRef {
	if uint64(ref)>>refBits<<refBits != a.age {
		return 0
	}
	return ref & (1<<refBits - 1)
}

// lasting is a reference as others may keep it.
func (a *appender) lasting(ref storage.SeriesRef) storage.SeriesRef {
	if ref == 0 {
		return 0
	}
	return ref | storage.SeriesRef(a.age)
}

// Append implements storage.AppenderV2.
//
//nolint:revive // The interface has eight arguments.
func (a *appender) Append(ref storage.SeriesRef, l labels.Labels, start, at int64, v float64,
	integers *histogram.Histogram, floats *histogram.FloatHistogram, o storage.AppendV2Options,
) (storage.SeriesRef, error) {
	if !a.begin() {
		return 0, nil
	}
	ref, err := a.inner.Append(a.known(ref), l, start, at, v, integers, floats, o)
	return a.lasting(ref), err //nolint:wrapcheck // The scraper tells kinds of errors apart.
}

// GetRef implements storage.GetRef.
func (a *appender) GetRef(l labels.Labels, hash uint64) (storage.SeriesRef, labels.Labels) {
	if !a.begin() {
		return 0, labels.EmptyLabels()
	}
	known, ok := a.inner.(storage.GetRef)
	if !ok {
		return 0, labels.EmptyLabels()
	}
	ref, l := known.GetRef(l, hash)
	return a.lasting(ref), l
}

// Commit implements storage.AppenderV2. Where a write has failed since the first sample, it stores nothing.
func (a *appender) Commit() error {
	if a.inner == nil {
		return nil
	}
	defer a.release()
	return a.store.finish(func() error {
		if a.store.isBroken() {
			return a.inner.Rollback()
		}
		return a.inner.Commit()
	})
}

// Rollback implements storage.AppenderV2.
func (a *appender) Rollback() error {
	if a.inner == nil {
		return nil
	}
	defer a.release()
	return a.store.finish(a.inner.Rollback)
}
