package refresh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// judgeInterval is how often the signal is judged. What is doubtful then concerns the status alone, but for a counter.
const judgeInterval = 5 * time.Minute

// count asks how many clusters and replicas the demand is made of: the clusters with the history, the replicas now and then.
func (w *worker) count(ctx context.Context, source Source, q Query, history bool) {
	if history {
		if n, ok := ask(ctx, source, q, w.job.Clusters); ok {
			w.result.clusters = n
		}
	}
	w.askDoubts(ctx, source, q, history)
	if !w.judgesAt(q.To.Add(q.Step)) {
		return
	}
	if n, ok := ask(ctx, source, q, w.job.Silent); ok {
		w.result.silent = [2]float64{w.result.silent[1], n}
	}
	if w.job.Saturated != "" {
		w.ready, _ = ask(ctx, source, q, w.job.Ready)
	}
}

// countUnowned asks, where an answer has no newest sample, how many pods report that kube-state-metrics does not know.
func (w *worker) countUnowned(ctx context.Context, source Source, q Query, answer forecast.Series, err error) {
	missing := errors.Is(err, series.ErrNoSeries) || answer.Len() > 0 && math.IsNaN(answer.Values[answer.Len()-1])
	switch {
	case missing:
		if n, ok := ask(ctx, source, q, w.job.Unowned); ok {
			w.result.unowned = n
		}
	case err == nil:
		w.result.unowned = 0
	}
}

// ask returns the value of an expression at the end of a query, 0 for no series; ok is false without an expression or an answer.
func ask(ctx context.Context, source Source, q Query, expr string) (n float64, ok bool) {
	if expr == "" {
		return 0, false
	}
	q.Expr, q.From = expr, q.To
	answer, err := fetchOnGrid(ctx, source, q)
	switch {
	case errors.Is(err, series.ErrNoSeries):
		return 0, true
	case err != nil:
		return 0, false
	}
	return answer.Values[0], true
}

// judgesAt reports whether the signal is judged when the samples end at a time.
func (w *worker) judgesAt(end time.Time) bool {
	return align(end, judgeInterval).After(align(w.judged, judgeInterval))
}

// judgeSignal judges whether the newest samples look like a demand, and fit the autoscaler's target.
func (w *worker) judgeSignal() {
	end := w.store.End()
	if !w.judgesAt(end) {
		return
	}
	w.judged = end
	w.result.shape = demand.ShapeOf(w.store.Range(end.Add(-demand.ShapeTime), end).Values, w.job.Step)
	w.judgeLoad(end)
	w.compareWork(end)
	w.judgeMeasured(end)
}

// signalCondition is present while the signal is hardly the total demand.
func (r *result) signalCondition(t Job) (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionSignal}
	doubt, why := r.load.doubt()
	switch silent := math.Min(r.silent[0], r.silent[1]); {
	case t.Average:
		c.Reason = reasonAverage
		c.Message = "the query is an average, and the autoscaler divides the value by what a replica sustains: write the total, sum()"
	case r.unowned > 0:
		c.Reason = reasonOwnersUnknown
		c.Message = fmt.Sprintf(unownedMessage, r.unowned)
	case r.shape == demand.Frozen:
		c.Reason = reasonFrozen
		c.Message = fmt.Sprintf("the demand has been the same number for %s, and changed all the time before: "+
			"what the source has is probably old; check the exporter, the recording rule or the federation behind "+
			"the query", humanize.Span(time.Hour))
	case silent > 0:
		c.Reason = reasonSilentReplicas
		c.Message = fmt.Sprintf(
			"%.0f ready replicas report nothing, so their demand is missing: check that new pods are scraped", silent,
		)
	case doubt != "":
		c.Reason, c.Message = doubt, why
	default:
		if doubtful, ok := r.doubtCondition(); ok {
			return doubtful, true
		}
		return r.measuredCondition(t)
	}
	return c, true
}

const unownedMessage = "%.0f pods report, and kube-state-metrics does not say whose they are: their demand may be missing, so there " +
	"are no samples, and the value does not fall; check that kube-state-metrics, every shard of it, runs, follows the cluster " +
	"and is scraped"

const counterMessage = "the query returns a counter, which never falls, and not a demand, so nothing is served: write " +
	"sum(rate(…[2m])) of it"
