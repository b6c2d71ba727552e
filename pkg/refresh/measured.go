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
	if w.target.Measured == "" || !history && !w.judgesAt(q.To.Add(q.Step)) {
		return
	}
	q.Expr, q.Step = w.target.Measured, max(judgeInterval, w.target.Step)
	q.To = align(q.To, q.Step)
	q.From = align(q.To.Add(-w.target.Policy.Over), q.Step).Add(q.Step)
	if !history && w.shares.End().After(q.From) {
		q.From = w.shares.End()
	}
	block, err := fetchOnGrid(ctx, source, q)
	if errors.Is(err, series.ErrNoSeries) {
		block, err = gapSeries(q), nil // No pod reports, or nobody asked for anything.
	}
	if w.found.measuredErr = err; err != nil {
		return
	}
	for i, v := range block.Values {
		if math.IsNaN(v) {
			continue
		}
		w.found.measuredErr = nil
		if block.Values[i] = min(max(v, 0), 1); math.Abs(block.Values[i]-v) > rounding {
			block.Values[i], w.found.measuredErr = math.NaN(), fmt.Errorf("it returned %.4g: %w", v, errNoShare)
		}
	}
	if kept := w.shares; !history && kept.Len() > 0 && kept.End().Equal(q.From) {
		block = forecast.Series{Start: kept.Start, Step: q.Step, Values: append(kept.Values, block.Values...)}
	}
	surplus := max(0, block.Len()-int(w.target.Policy.Over/q.Step))
	w.shares = forecast.Series{Start: block.TimeAt(surplus), Step: q.Step, Values: block.Values[surplus:]}
}

// lateWeights are the late demand and the demand of intervals with a share.
type lateWeights struct {
	forecast.Series

	late, demand []float64
}

// weighed weighs the shares by the demand that was observed in their intervals, each of which ends at its time.
func (w *worker) weighed() lateWeights {
	out := lateWeights{Series: w.shares, late: make([]float64, w.shares.Len()), demand: make([]float64, w.shares.Len())}
	first := out.Start.Add(-out.Step)
	demand := w.store.Range(first.Add(1), out.TimeAt(out.Len()))
	for i, v := range demand.Values {
		at := int((demand.TimeAt(i).Sub(first) - 1) / out.Step)
		if at < out.Len() && v > 0 && !math.IsNaN(out.Values[at]) {
			out.late[at], out.demand[at] = out.late[at]+v*out.Values[at], out.demand[at]+v
		}
	}
	return out
}

// share is the late share of the demand after a time, up to another; NaN if it is not known.
func (l lateWeights) share(after, to time.Time) float64 {
	late, demand := 0.0, 0.0
	for i := max(0, int(after.Sub(l.Start)/l.Step)); i < l.Len() && !l.TimeAt(i).After(to); i++ {
		if l.TimeAt(i).After(after) {
			late, demand = late+l.late[i], demand+l.demand[i]
		}
	}
	return late / demand
}

// judgeMeasured compares what was measured with what is simulated, at the end of the samples.
func (w *worker) judgeMeasured(end time.Time) {
	w.found.measured = nil
	calibrator := w.forecaster.Calibrator()
	if w.shares.Len() == 0 || calibrator == nil {
		return
	}
	all := w.weighed()
	out := objective.Measured{Late: all.share(time.Time{}, end)}
	for _, demand := range all.demand {
		if demand > 0 {
			out.Known += all.Step
		}
	}
	yesterday := end.Add(-24 * time.Hour)
	asked := slices.ContainsFunc(w.store.Range(yesterday, end).Values, func(v float64) bool { return v > 0 })
	if asked && math.IsNaN(all.share(yesterday, end)) && w.found.measuredErr == nil {
		w.found.measuredErr = errNoRequests
	}
	if out.Known > 0 {
		out.Difference = calibrator.Difference(all.share, w.target.Policy.Mode == decide.Shadow)
		w.found.measured = &out
	}
}

// measuredCondition is present while objective.measured cannot be used, or differs from the simulation.
func (v *view) measuredCondition(t Target) (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionSignal}
	switch {
	case v.measuredErr != nil:
		c.Reason = snapshot.ReasonMeasuredUnusable
		c.Message = "the query of objective.measured cannot be used, which changes nothing that is served: " + v.measuredErr.Error()
	case v.measured != nil && v.measured.Difference != nil:
		c.Reason, c.Message = snapshot.ReasonLatenessDiffers, v.measured.Difference.Message(t.Policy.Wait)
	default:
		return c, false
	}
	return c, true
}
