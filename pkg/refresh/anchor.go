package refresh

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// anchors are the times at which a Forecast is rebuilt from its history: multiples of the refit interval, shifted by an
// offset derived from its name, so that a thousand Forecasts do not refit at once. All times are on the step's grid.
type anchors struct {
	refit, step, offset time.Duration
}

func newAnchors(key snapshot.Key, refit, step time.Duration) anchors {
	offset := time.Duration(seedOf(key) % uint64(refit))
	return anchors{refit: refit, step: step, offset: offset}
}

// newestBefore is the last anchor at or before t.
func (a anchors) newestBefore(t time.Time) time.Time {
	since := t.UnixNano() - int64(a.offset)
	return align(time.Unix(0, since-since%int64(a.refit)+int64(a.offset)), a.step)
}

// align is the last multiple of step since the epoch at or before t.
func align(t time.Time, step time.Duration) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(step)).UTC()
}

// rebuildsAt reports whether the forecaster must be made anew to step to an end.
func (w *worker) rebuildsAt(end time.Time) bool {
	return w.forecaster == nil || w.anchorAt(end).After(w.anchor) ||
		slices.ContainsFunc(w.beside.Requested(), w.forecaster.Lacks)
}

// anchorAt is the anchor of an end. What comes late before an anchor has mostly come when it takes effect.
func (w *worker) anchorAt(end time.Time) time.Time {
	return w.anchors.newestBefore(end.Add(-mostOverlapOf(w.job.Step)))
}

// noteRequested notes the models that requests have named, for a forecaster that is made anew. A model stays fitted until no request
// has named it from one anchor to the next.
func (w *worker) noteRequested(newAnchor bool) {
	requested := w.beside.Requested()
	if newAnchor {
		w.requested = nil
		w.beside.ForgetRequested()
	}
	w.requested = slices.Compact(slices.Sorted(slices.Values(append(requested, w.requested...))))
}
