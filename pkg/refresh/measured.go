package refresh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// errNoShare: the query of objective.measured returned something else than a share. errNoRequests: it returned nothing.
var (
	errNoShare = errors.New(
		"write the share of the requests that waited too long, from 0 to 1, and no percentage or count",
	)
	errNoRequests = errors.New("it has no share of the last day, in which there was demand: check that its series " +
		"exist, and that the histogram has a bound that is at least the objective's wait")
)

// askMeasured asks which share of the requests was late in the intervals that are new when the signal is judged or, with the history,
// in all of the budget's period. While it fails, the shares that are here stay.
func (w *worker) askMeasured(ctx context.Context, source Source, q Query, history bool) {
	const rounding = 1e-9
	if w.job.Measured == "" || !history && !w.judgesAt(q.To.Add(q.Step)) {
		return
	}
	q.Expr, q.Step = w.job.Measured, max(judgeInterval, w.job.Step)
	q.To = align(q.To, q.Step)
	q.From = align(q.To.Add(-w.job.Settings.Over), q.Step).Add(q.Step)
	if !history && w.shares.End().After(q.From) {
		q.From = w.shares.End()
	}
	block, err := fetchOnGrid(ctx, source, q)
	if errors.Is(err, series.ErrNoSeries) {
		block, err = q.Gaps(), nil // No pod reports, or nobody asked for anything.
	}
	if w.result.measuredErr = err; err != nil {
		return
	}
	for i, v := range block.Values {
		if math.IsNaN(v) {
			continue
		}
		w.result.measuredErr = nil
		if block.Values[i] = min(max(v, 0), 1); math.Abs(block.Values[i]-v) > rounding {
			block.Values[i], w.result.measuredErr = math.NaN(), fmt.Errorf("it returned %.4g: %w", v, errNoShare)
		}
	}
	if kept := w.shares; !history && kept.Len() > 0 && kept.End().Equal(q.From) {
		block = forecast.Series{Start: kept.Start, Step: q.Step, Values: append(kept.Values, block.Values...)}
	}
	surplus := max(0, block.Len()-int(w.job.Settings.Over/q.Step))
	w.shares = forecast.Series{Start: block.TimeAt(surplus), Step: q.Step, Values: block.Values[surplus:]}
}

// lateShare is the late share of the demand after a time, up to another, by the share of the interval in which it was observed, which
// ends at its time; NaN if it is not known. It is known of so much time.
func (w *worker) lateShare(after, to time.Time) (share float64, known time.Duration) {
	late, all, newest := 0.0, 0.0, -1
	first := w.shares.Start.Add(-w.shares.Step)
	of := w.store.Range(after.Add(1), to.Add(1))
	demand.ConvertUnit(of, w.units.changes)
	for i, v := range of.Values {
		since := of.TimeAt(i).Sub(first)
		at := int((since - 1) / w.shares.Step)
		if since <= 0 || at >= w.shares.Len() || !(v > 0) || math.IsNaN(w.shares.Values[at]) {
			continue
		}
		late, all = late+v*w.shares.Values[at], all+v
		if at > newest {
			known, newest = known+w.shares.Step, at
		}
	}
	return late / all, known
}

// judgeMeasured compares what was measured with what is simulated, at the end of the samples.
func (w *worker) judgeMeasured(end time.Time) {
	w.result.measured = nil
	calibrator := w.forecaster.Calibrator()
	if w.shares.Len() == 0 || calibrator == nil {
		return
	}
	yesterday := end.Add(-24 * time.Hour)
	asked := slices.ContainsFunc(w.store.Range(yesterday, end).Values, func(v float64) bool { return v > 0 })
	if _, known := w.lateShare(yesterday, end); asked && known == 0 && w.result.measuredErr == nil {
		w.result.measuredErr = errNoRequests
	}
	if late, known := w.lateShare(w.shares.Start.Add(-w.shares.Step), end); known > 0 {
		difference := calibrator.Difference(w.lateShare, w.job.Settings.Mode == decide.Shadow)
		w.result.measured = &objective.Measured{Late: late, Known: known, Difference: difference}
	}
}

// measuredCondition is present while objective.measured cannot be used, or differs from the simulation.
func (r *result) measuredCondition(t Job) (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionSignal}
	switch {
	case r.measuredErr != nil:
		c.Reason = reasonMeasuredUnusable
		c.Message = "the query of objective.measured cannot be used, which changes nothing that is served: " + r.measuredErr.Error()
	case r.measured != nil && r.measured.Difference != nil:
		c.Reason, c.Message = reasonLatenessDiffers, r.measured.Difference.Message(t.Settings.Wait)
	default:
		return c, false
	}
	return c, true
}
