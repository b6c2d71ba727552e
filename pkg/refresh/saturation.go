package refresh

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// sinceSaturation returns the query for the new samples of the saturation signal.
func (w *worker) sinceSaturation(q Query, _ moment) Query {
	if w.saturation == nil {
		w.saturation = newFlags(w.job.Step, w.maxSteps())
	}
	return w.queryAfter(q.Expr, w.saturation.newestEnd(), q.To)
}

// takeSaturation stores the saturation signal. While its query fails, samples are used as observed. A later answer may change how older
// samples are used.
func (w *worker) takeSaturation(a sideAnswer) {
	if w.result.saturationErr = a.err; a.err != nil {
		return
	}
	changed, err := w.saturation.add(a.series)
	w.result.saturationErr = err
	w.noteChange(changed)
}

// saturatedCondition is present while the demand is censored, and while the query of the saturation signal fails.
func (r *result) saturatedCondition() snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionSaturated}
	switch {
	case r.saturationErr != nil:
		c.Reason = reasonOf(r.saturationErr)
		c.Message = "the query in signal.saturated failed, so Forewarm uses the demand as observed: " + r.saturationErr.Error()
	case r.isClassified && r.classified.Cause.Kind() == demand.Censored:
		c.True, c.Reason = true, reasonCensored
		c.Message = fmt.Sprintf("since %s, the real demand may have been higher than the observed demand: %s",
			formatTime(r.classified.From), r.classified.Cause)
	}
	return c
}

// sinceWork returns the query for the new samples of the deferrable work.
func (w *worker) sinceWork(q Query, _ moment) Query {
	from := time.Time{}
	if w.work != nil {
		from = w.work.End()
	}
	return w.queryAfter(q.Expr, from, q.To)
}

// takeWork stores the deferrable work. While its query fails, no work is assumed to arrive.
func (w *worker) takeWork(a sideAnswer) {
	if w.result.workErr = a.err; a.err != nil {
		return
	}
	if w.work == nil {
		w.work = series.NewStore(w.job.Step, w.maxSteps())
	}
	got, err := w.work.Append(a.series)
	w.result.workErr = err
	w.noteChange(got.Changed)
}

// stepsOf returns the value of a series at each of its steps, and NaN at all other times.
func stepsOf(s forecast.Series) func(time.Time) float64 {
	return func(at time.Time) float64 {
		if i := int(at.Sub(s.Start) / s.Step); !at.Before(s.Start) && i < s.Len() {
			return s.Values[i]
		}
		return math.NaN()
	}
}

// maxMissed is the share of the work that may miss its deadline before the condition says so.
const maxMissed = 0.01

// deferrableCondition is present while the deferrable work is unknown, or is not finished in time.
func (r *result) deferrableCondition(report *objective.Report, t Job) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionDeferrable}
	switch {
	case r.workErr != nil:
		c.Reason = reasonOf(r.workErr)
		c.Message = "the query in deferrable.signal failed, so Forewarm plans no capacity for this work: " + r.workErr.Error()
	case t.SideQueries[Deferrable] == "":
	case report == nil || report.Deferrable == nil:
		c.Reason = reasonNotPlanned
		c.Message = "Forewarm does not know the target of an autoscaler, so it plans no capacity for deferrable work: see the condition " +
			"Uncalibrated"
	case r.workIncludes:
		c.Reason = reasonIncludesDemand
		c.Message = "the work of deferrable.signal rises and falls with the demand, so it probably includes the demand: exclude the demand " +
			"from deferrable.signal, because Forewarm adds up both"
	case t.Deadline < t.window():
		c.Reason = reasonDeadlineTooShort
		c.Message = fmt.Sprintf("the deadline of %s is shorter than the %s that a new replica takes to become ready: "+
			"Forewarm keeps capacity for the usual amount of work, and work beyond that is late; lengthen the deadline, "+
			"or add the work to the demand", humanize.Span(t.Deadline), humanize.Span(t.window()))
	case report.Deferrable.MissedShare() > maxMissed:
		c.Reason = reasonDeadlinesMissed
		missed, deadline := humanize.LateShare(report.Deferrable.MissedShare()), humanize.Span(t.Deadline)
		c.Message = fmt.Sprintf("%s of the deferrable work missed its deadline of %s in the last %s: raise "+
			"maxReplicas if the workload reaches it, or lengthen the deadline", missed, deadline,
			humanize.Period(report.Period))
	}
	return c
}

const (
	// includedSpan is the time over which work is compared with the demand, and minIncluded the least number of steps.
	includedSpan, minIncluded = 24 * time.Hour, 100
	// If the work includes the demand, the work is at least as high as the demand in includedShare of the steps. When both rise, the ratio of
	// the two rises differs from 1 by at most includedSlope.
	includedShare, includedSlope = 0.99, 0.2
)

// includes reports whether work includes a demand. In that case, the work is almost never lower than the demand, and both rise and fall by
// the same amount.
func includes(work, of forecast.Series) bool {
	var n, above, product, square float64
	for i := 1; i < min(work.Len(), of.Len()); i++ {
		rise, risen := of.Values[i]-of.Values[i-1], work.Values[i]-work.Values[i-1]
		if math.IsNaN(rise + risen) {
			continue
		}
		n++
		if work.Values[i] >= of.Values[i] {
			above++
		}
		product, square = product+rise*risen, square+rise*rise
	}
	return n >= minIncluded && above >= includedShare*n && square > 0 && math.Abs(product/square-1) <= includedSlope
}

// errNoShare means that the query of objective.measured returned something other than a share, errNoRequests that it returned nothing.
var (
	errNoShare = errors.New(
		"write a query for the share of the requests that waited too long, from 0 to 1, instead of a percentage or a count",
	)
	errNoRequests = errors.New("it returned no value for the last day, although there was demand: check that its " +
		"series exist, and that the histogram has a bucket bound of at least the objective's wait")
)

// sinceShares returns the query for the new intervals of the budget's period. If the whole history is read, it covers all intervals.
func (w *worker) sinceShares(q Query, m moment) Query {
	q.Step = max(judgeInterval, w.job.Step)
	q.To = align(q.To, q.Step)
	q.From = align(q.To.Add(-w.job.Settings.Over), q.Step).Add(q.Step)
	if m&historyRead == 0 && w.shares.End().After(q.From) {
		q.From = w.shares.End()
	}
	return q
}

// takeShares stores the share of requests that were late. While the query fails, the known shares are kept.
func (w *worker) takeShares(a sideAnswer) {
	const rounding = 1e-9
	if w.result.measuredErr = a.err; a.err != nil {
		return
	}
	block := a.series
	for i, v := range block.Values {
		if math.IsNaN(v) {
			continue
		}
		w.result.measuredErr = nil
		if block.Values[i] = min(max(v, 0), 1); math.Abs(block.Values[i]-v) > rounding {
			block.Values[i], w.result.measuredErr = math.NaN(), fmt.Errorf("it returned %.4g: %w", v, errNoShare)
		}
	}
	if kept := w.shares; kept.Len() > 0 && kept.End().Equal(block.Start) {
		block.Start, block.Values = kept.Start, append(kept.Values, block.Values...)
	}
	surplus := max(0, block.Len()-int(w.job.Settings.Over/block.Step))
	w.shares = forecast.Series{Start: block.TimeAt(surplus), Step: block.Step, Values: block.Values[surplus:]}
}

// lateShare returns the late share of the demand between two times; NaN if it is unknown. For each sample of the demand, it uses the share
// of the interval that contains the sample. known is the length of time with a known share.
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

// judgeMeasured compares the measured lateness with the simulated lateness, at the end of the samples.
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

// measuredDoubt says that objective.measured cannot be used, or that it differs from the simulation; empty otherwise.
func (r *result) measuredDoubt(t Job) (reason, message string) {
	switch {
	case r.measuredErr != nil:
		return reasonMeasuredUnusable, "Forewarm cannot use the query in objective.measured (this does not change the " +
			"served value): " + r.measuredErr.Error()
	case r.measured != nil && r.measured.Difference != nil:
		return reasonLatenessDiffers, r.measured.Difference.Message(t.Settings.Wait)
	}
	return "", ""
}

const (
	// targetRatio is the factor by which the load that a replica sustains must differ from a target, in each of targetIntervals judged
	// intervals, to make the target doubtful. `forewarm capacity` finds smaller differences: the load of replicas varies, and a signal may also count waiting requests.
	targetRatio     = 3
	targetIntervals = 6
)

// load compares the demand for each ready replica with the autoscaler's target. An interval is meaningful if replicas were saturated in all
// of it, or if they were never saturated and served more than a third of the target. Intervals with idle replicas are not meaningful.
type load struct {
	// high and low count the intervals in a row that indicate that the target is too high or too low.
	high, low int
	// carried and target are the values of the newest meaningful interval.
	carried, target float64
}

// judge judges an interval. Its arguments are the mean demand for each ready replica, the target, and the share of steps that were
// saturated.
func (l *load) judge(carried, target, saturated float64) {
	switch {
	case saturated == 1 && carried*targetRatio < target:
		l.high, l.low = l.high+1, 0
	case saturated == 0 && carried > target*targetRatio:
		l.high, l.low = 0, l.low+1
	case saturated == 1, saturated == 0 && carried*targetRatio >= target:
		l.high, l.low = 0, 0
	default:
		return
	}
	l.carried, l.target = carried, target
}

// judgeLoad judges the load of the newest interval, if the replicas and the saturation are known.
func (w *worker) judgeLoad(end time.Time) {
	ready := w.ready
	w.ready = 0 // The replicas are counted again each time.
	if !(ready > 0) || w.saturation == nil || len(w.job.Autoscalers) != 1 {
		return
	}
	read := w.store.Range(end.Add(-judgeInterval), end)
	sum, known, saturated := 0.0, 0.0, 0.0
	for i, v := range read.Values {
		if math.IsNaN(v) {
			continue
		}
		sum, known = sum+v, known+1
		if w.saturation.at(read.TimeAt(i)) {
			saturated++
		}
	}
	if known > 0 {
		w.result.load.judge(sum/known/ready, w.job.Autoscalers[0].Target(), saturated/known)
	}
}

// doubt says why the target is doubtful; empty if it is not.
func (l *load) doubt() (reason, message string) {
	switch {
	case l.high >= targetIntervals:
		return reasonTargetTooHigh, fmt.Sprintf("for %s, replicas were saturated at a demand of %.4g each, but the "+
			"autoscaler's target is %.4g: correct the target (to estimate what a replica sustains, run forewarm capacity), or "+
			"check whether the query has a different unit or returns the demand of one replica instead of the total",
			humanize.Span(targetIntervals*judgeInterval), l.carried, l.target)
	case l.low >= targetIntervals:
		return reasonTargetTooLow, fmt.Sprintf("for %s, replicas served a demand of %.4g each and were not saturated, "+
			"but the autoscaler's target is %.4g: correct the target (to estimate what a replica sustains, run forewarm "+
			"capacity), or check whether the query has a different unit", humanize.Span(targetIntervals*judgeInterval),
			l.carried, l.target)
	}
	return "", ""
}
