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

// sinceSaturation asks for what is new of the saturation signal.
func (w *worker) sinceSaturation(q Query, _ moment) Query {
	if w.saturation == nil {
		w.saturation = newFlags(w.job.Step, w.maxSteps())
	}
	return w.queryAfter(q.Expr, w.saturation.newestEnd(), q.To)
}

// takeSaturation stores the saturation signal. While its query fails, samples count as observed; a later answer may change what has
// counted already.
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
		c.Message = "the query of signal.saturated failed, so the demand counts as observed: " + r.saturationErr.Error()
	case r.isClassified && r.classified.Cause.Kind() == demand.Censored:
		c.True, c.Reason = true, reasonCensored
		c.Message = fmt.Sprintf("since %s the demand is at least the observed value: %s",
			formatTime(r.classified.From), r.classified.Cause)
	}
	return c
}

// dataCondition is present while samples do not count as observed.
func (r *result) dataCondition() snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionData}
	switch {
	case r.newestDropped.Any():
		c.Reason, c.Message = snapshot.ReasonSamplesDropped, r.newestDropped.Newest()
	case r.dropped.Any():
		c.Reason, c.Message = snapshot.ReasonSamplesDropped, r.dropped.String()
	case r.suspect != "":
		c.Reason, c.Message = snapshot.ReasonSuspect, r.suspect
	case r.isClassified && r.classified.Cause == demand.Incomplete:
		c.Reason = snapshot.ReasonIncomplete
		c.Message = fmt.Sprintf("since %s samples are below those before, and the source still adds to samples of "+
			"this age: what was observed before counts until they are complete; if the source always lags, set "+
			"signal.delay", formatTime(r.classified.From))
	case r.isClassified && r.classified.Cause == demand.Outage:
		c.Reason = snapshot.ReasonOutageSuspected
		c.Message = fmt.Sprintf("since %s the demand is suddenly near 0, which looks like an outage: the demand "+
			"before it counts for %s, then half as much every %s; check the workload, its scrape and the query; "+
			"if the demand is gone, nothing needs to be done", formatTime(r.classified.From),
			humanize.Span(demand.OutageHold), humanize.Span(demand.OutageHalfLife))
	case r.suddenLow != "":
		c.Reason, c.Message = snapshot.ReasonSuddenLow, r.suddenLow
	case r.unit != nil:
		c.Reason, c.Message = snapshot.ReasonUnitChanged, unitMessage(r.unit)
	}
	return c
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// sinceWork asks for what is new of the work that may wait.
func (w *worker) sinceWork(q Query, _ moment) Query {
	from := time.Time{}
	if w.work != nil {
		from = w.work.End()
	}
	return w.queryAfter(q.Expr, from, q.To)
}

// takeWork stores the work that may wait. While its query fails, none arrives.
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

// stepsOf is the value of a series at each of its steps; NaN beyond it.
func stepsOf(s forecast.Series) func(time.Time) float64 {
	return func(at time.Time) float64 {
		if i := int(at.Sub(s.Start) / s.Step); !at.Before(s.Start) && i < s.Len() {
			return s.Values[i]
		}
		return math.NaN()
	}
}

// mostMissed is the share of the work that may miss its deadline before the condition says so.
const mostMissed = 0.01

// deferrableCondition is present while the work that may wait is not known, or not done in time.
func (r *result) deferrableCondition(report *objective.Report, t Job) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionDeferrable}
	switch {
	case r.workErr != nil:
		c.Reason = reasonOf(r.workErr)
		c.Message = "the query of deferrable.signal failed, so no work counts: " + r.workErr.Error()
	case t.SideQueries[Deferrable] == "":
	case report == nil || report.Deferrable == nil:
		c.Reason = reasonNotPlanned
		c.Message = "without an autoscaler whose target is known nothing is planned for the work that may wait: see Uncalibrated"
	case r.workIncludes:
		c.Reason = reasonIncludesDemand
		c.Message = "the work of deferrable.signal rises and falls with all of the demand, as if it contained it: leave the demand out of it, " +
			"for both are added up"
	case t.Deadline < t.window():
		c.Reason = reasonDeadlineTooShort
		c.Message = fmt.Sprintf("the deadline of %s is shorter than the %s in which a new replica is ready: capacity "+
			"is kept for what usually arrives, and what is beyond that is late; lengthen the deadline, or add the "+
			"work to the demand", humanize.Span(t.Deadline), humanize.Span(t.window()))
	case report.Deferrable.MissedShare() > mostMissed:
		c.Reason = reasonDeadlinesMissed
		missed, deadline := humanize.LateShare(report.Deferrable.MissedShare()), humanize.Span(t.Deadline)
		c.Message = fmt.Sprintf("%s of the work that may wait missed its deadline of %s in the last %s: raise "+
			"maxReplicas if it is reached, or lengthen the deadline", missed, deadline, humanize.Period(report.Period))
	}
	return c
}

const (
	// includedSpan is the time over which work is compared with the demand, and leastIncluded the least number of steps.
	includedSpan, leastIncluded = 24 * time.Hour, 100
	// includedShare of the steps have work that is as much as the demand, if it contains it; includedSlope is how far from 1 its rise is for
	// each rise of the demand.
	includedShare, includedSlope = 0.99, 0.2
)

// includes reports whether work contains a demand: it is never less, and rises and falls by as much.
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
	return n >= leastIncluded && above >= includedShare*n && square > 0 && math.Abs(product/square-1) <= includedSlope
}

// errNoShare: the query of objective.measured returned something else than a share. errNoRequests: it returned nothing.
var (
	errNoShare = errors.New(
		"write the share of the requests that waited too long, from 0 to 1, and no percentage or count",
	)
	errNoRequests = errors.New("it has no share of the last day, in which there was demand: check that its series " +
		"exist, and that the histogram has a bound that is at least the objective's wait")
)

// sinceShares asks for the intervals of the budget's period that are new or, with the history, for all of them.
func (w *worker) sinceShares(q Query, m moment) Query {
	q.Step = max(judgeInterval, w.job.Step)
	q.To = align(q.To, q.Step)
	q.From = align(q.To.Add(-w.job.Settings.Over), q.Step).Add(q.Step)
	if m&historyRead == 0 && w.shares.End().After(q.From) {
		q.From = w.shares.End()
	}
	return q
}

// takeShares stores which share of the requests was late. While the query fails, the shares that are here stay.
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

// measuredDoubt is that objective.measured cannot be used, or differs from the simulation; empty otherwise.
func (r *result) measuredDoubt(t Job) (reason, message string) {
	switch {
	case r.measuredErr != nil:
		return reasonMeasuredUnusable, "the query of objective.measured cannot be used, which changes nothing that is " +
			"served: " + r.measuredErr.Error()
	case r.measured != nil && r.measured.Difference != nil:
		return reasonLatenessDiffers, r.measured.Difference.Message(t.Settings.Wait)
	}
	return "", ""
}

// unitSaid is how long the condition of a changed unit stays.
const unitSaid = 24 * time.Hour

// units are the changes of the demand's unit in the history. What was read before one counts in the new unit.
type units struct {
	changes []demand.UnitChange
	// start is the start of the history that was searched, searched its end.
	start, searched time.Time
}

// unitTail is how much of the history shows that there is no change at its end.
const unitTail = 3 * time.Hour

// findUnitChanges searches the history up to an end, and reports whether other changes are known than before. It depends on the history
// since the anchor alone, so all replicas find the same at the same time. Changed is the oldest sample that has changed; zero for none.
func (w *worker) findUnitChanges(end, changed time.Time) bool {
	u, block := &w.units, demand.UnitBlock(w.job.Step)
	start, tail := align(w.anchorAt(end).Add(-w.job.History), w.job.Step), end.Add(-unitTail)
	again := !changed.IsZero()
	all := !start.Equal(u.start) || again && (len(u.changes) > 0 || changed.Before(tail.Add(unitTail/2)))
	if !all && !again && !align(end, block).After(align(u.searched, block)) {
		return false
	}
	u.start, u.searched = start, end
	if !all && !demand.MayChangeUnit(w.demand(tail, end)) {
		return false
	}
	before := u.changes
	u.changes = demand.UnitChanges(w.demand(start, end), w.seasons[0], w.anchorAt(end))
	return !slices.Equal(before, u.changes)
}

// newest is the newest change of the unit at an end; nil where none is new.
func (u *units) newest(end time.Time) *demand.UnitChange {
	if n := len(u.changes); n > 0 && end.Sub(u.changes[n-1].To) < unitSaid {
		return &u.changes[n-1]
	}
	return nil
}

// unitMessage says that the unit has changed.
func unitMessage(c *demand.UnitChange) string {
	times := fmt.Sprintf("%.6g times", c.Factor)
	if c.Factor < 1 {
		times = fmt.Sprintf("1/%.6g of", 1/c.Factor)
	}
	return fmt.Sprintf("since %s the demand is %s what it was, at once, with the same shape: its unit has probably "+
		"changed at the exporter or in a recording rule; the history before counts in the new unit, and the value is "+
		"in the new unit, so check that the autoscaler's target is, too", formatTime(c.To), times)
}
