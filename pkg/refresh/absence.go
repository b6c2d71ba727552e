package refresh

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// demand is the series of [from, to): the samples, and 0 where there is none because there was no replica to have one. The
// store keeps the samples alone, so that what is known of replicas later counts at the next anchor.
func (w *worker) demand(from, to time.Time) forecast.Series {
	out := w.store.Range(from, to)
	if !w.target.AtZero.Any() {
		return out
	}
	for i, v := range out.Values {
		if math.IsNaN(v) && w.target.AtZero.At(out.TimeAt(i)) {
			out.Values[i] = 0
		}
	}
	return out
}

// slept says whether the workload stood at zero at a step of a query.
func (w *worker) slept(q Query) bool {
	zero, slept := w.target.AtZero.Newest(q.To, q.Step)
	return slept && !zero.Before(q.From)
}

// newestSample is the time of the newest step whose demand is known; ok is false where that of none is.
func (w *worker) newestSample() (at time.Time, ok bool) {
	at, ok = w.store.NewestSample()
	zero, slept := w.target.AtZero.Newest(w.store.End().Add(-w.target.Step), w.target.Step)
	if slept && !zero.Before(w.store.Start()) && zero.After(at) {
		return zero, true
	}
	return at, ok
}

// atZero is there while the demand is 0 for want of replicas.
func (v *view) atZero(e *snapshot.Entry, t Target) (snapshot.Condition, bool) {
	from, zero := t.AtZero.From(e.SampleTime)
	if v.entry == nil || !v.absent || !zero {
		return snapshot.Condition{}, false
	}
	return snapshot.Condition{
		Type: snapshot.ConditionAtZero, True: true, Reason: "NoReplicas",
		Message: t.Workload + " stands at zero replicas: without a sample its demand is 0, since " +
			clock(from),
	}, true
}
