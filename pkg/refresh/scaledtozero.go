package refresh

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// demand is the series of [from, to): the samples, and 0 for steps without a sample while the workload was scaled to
// zero. The store keeps only samples, so that what becomes known of replicas later takes effect at the next anchor.
func (w *worker) demand(from, to time.Time) forecast.Series {
	out := w.store.Range(from, to)
	if !w.job.ScaledToZero.Any() {
		return out
	}
	for i, v := range out.Values {
		if math.IsNaN(v) && w.job.ScaledToZero.At(out.TimeAt(i)) {
			out.Values[i] = 0
		}
	}
	return out
}

// scaledToZeroIn reports whether the workload was scaled to zero at a step of a query.
func (w *worker) scaledToZeroIn(q Query) bool {
	zero, slept := w.job.ScaledToZero.NewestStep(q.To, q.Step)
	return slept && !zero.Before(q.From)
}

// newestSample is the time of the newest step whose demand is known; ok is false if none is.
func (w *worker) newestSample() (at time.Time, ok bool) {
	at, ok = w.store.NewestSample()
	zero, slept := w.job.ScaledToZero.NewestStep(w.store.End().Add(-w.job.Step), w.job.Step)
	if slept && !zero.Before(w.store.Start()) && zero.After(at) {
		return zero, true
	}
	return at, ok
}

// scaledToZeroCondition is present while the demand is 0 because there are no replicas.
func (r *result) scaledToZeroCondition(e *snapshot.ForecastState, t Job) (snapshot.Condition, bool) {
	from, zero := t.ScaledToZero.ZeroSince(e.SampleTime)
	if r.entry == nil || !r.withoutReplicas || !zero {
		return snapshot.Condition{}, false
	}
	return snapshot.Condition{
		Type: snapshot.ConditionScaledToZero, True: true, Reason: reasonNoReplicas,
		Message: t.Workload + " is scaled to zero: a step without a sample is demand 0, since " +
			formatTime(from),
	}, true
}
