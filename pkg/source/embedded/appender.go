package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
)

// refBits is how many bits of a reference belong to the storage, which uses 40. The other bits count how often the storage was opened.
const refBits = 48

var (
	_ storage.AppendableV2 = (*store)(nil)
	_ storage.GetRef       = (*appender)(nil)
)

// AppenderV2 implements storage.AppendableV2. While samples are not stored, it drops them without an error: the cause
// has been logged and is reported, and must not be logged for every scrape.
func (s *store) AppenderV2(ctx context.Context) storage.AppenderV2 { //nolint:ireturn // The interface says so.
	return &appender{store: s, ctx: ctx}
}

// appender creates the storage's appender at the first sample, because a scrape requests its appender long before that.
type appender struct {
	store *store
	ctx   context.Context //nolint:containedctx // The context of the call that created it, with the same lifetime.
	inner storage.AppenderV2
	// drops is true if samples were not being stored at the first sample of this scrape. Then no sample of the scrape is stored.
	drops bool
	// age is the number of the storage's openings, shifted to its bits of a reference. release releases the storage.
	age     uint64
	release func()
}

// open creates the storage's appender, if samples are being stored. The storage is not replaced until the appender ends.
func (a *appender) open() bool {
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

// storageRef returns the storage's own reference, or 0 if the storage was reopened since, because the reference may then belong to another
// series.
func (a *appender) storageRef(ref storage.SeriesRef) storage.SeriesRef {
	if uint64(ref)>>refBits<<refBits != a.age {
		return 0
	}
	return ref & (1<<refBits - 1)
}

// lastingRef returns a reference that callers can keep.
func (a *appender) lastingRef(ref storage.SeriesRef) storage.SeriesRef {
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
	if !a.open() {
		return 0, nil
	}
	ref, err := a.inner.Append(a.storageRef(ref), l, start, at, v, integers, floats, o)
	return a.lastingRef(ref), err //nolint:wrapcheck // The scraper compares errors.
}

// GetRef implements storage.GetRef.
func (a *appender) GetRef(l labels.Labels, hash uint64) (storage.SeriesRef, labels.Labels) {
	if !a.open() {
		return 0, labels.EmptyLabels()
	}
	known, ok := a.inner.(storage.GetRef)
	if !ok {
		return 0, labels.EmptyLabels()
	}
	ref, l := known.GetRef(l, hash)
	return a.lastingRef(ref), l
}

// Commit implements storage.AppenderV2. If a write has failed since the first sample, it stores nothing.
func (a *appender) Commit() error {
	if a.inner == nil {
		return nil
	}
	defer a.release()
	return a.store.endAppender(func() error {
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
	return a.store.endAppender(a.inner.Rollback)
}

// Append adds a sample to a series, for demand that is not scraped. The labels are as in BackfillSeries. NaN ends the series until
// its next sample, as a failed scrape does. As scrapes, it adds nothing and returns nil while StorageError is not nil.
func (e *Engine) Append(ctx context.Context, series map[string]string, at time.Time, v float64) error {
	if math.IsNaN(v) {
		v = math.Float64frombits(value.StaleNaN)
	}
	to := e.store.AppenderV2(ctx)
	none := storage.AppendV2Options{}
	if _, err := to.Append(0, labels.FromMap(series), 0, at.UnixMilli(), v, nil, nil, none); err != nil {
		return errors.Join(fmt.Errorf("embedded engine: append: %w", err), to.Rollback())
	}
	return to.Commit() //nolint:wrapcheck // The store logs it.
}
