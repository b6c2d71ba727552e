package refresh

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// fetchDeferrable fetches what is new of the work that may wait. While its query fails, none arrives.
func (w *worker) fetchDeferrable(ctx context.Context, now time.Time, source Source) {
	from := time.Time{}
	if w.work != nil {
		from = w.work.End()
	}
	query := w.queryAfter(w.job.Deferrable, from, w.newestStep(now))
	block, asked, err := w.workSeries.fetch(ctx, w, source, query, now)
	if !asked {
		return
	}
	if w.result.workErr = err; err != nil {
		return
	}
	if w.work == nil {
		w.work = series.NewStore(w.job.Step, w.maxSteps())
	}
	got, err := w.work.Append(block)
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
func (r *result) deferrableCondition(report *objective.Report, t Job) (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionDeferrable}
	switch {
	case r.workErr != nil:
		c.Reason = reasonOf(r.workErr)
		c.Message = fmt.Sprintf("the query of deferrable.signal failed, so no work counts: %s", r.workErr)
	case t.Deferrable == "":
	case report == nil || report.Deferrable == nil:
		c.Reason = reasonNotPlanned
		c.Message = "without an autoscaler whose target is known nothing is planned for the work that may wait: see Uncalibrated"
	case r.workIncludes:
		c.Reason = reasonIncludesDemand
		c.Message = "the work of deferrable.signal rises and falls with all of the demand, as if it contained it: leave the demand out of it, " +
			"for both are added up"
	case t.Deadline < t.window():
		c.Reason = reasonDeadlineTooShort
		c.Message = fmt.Sprintf(
			"the deadline of %s is shorter than the %s in which a new replica is ready: capacity is kept for what usually "+
				"arrives, and what is beyond that is late; lengthen the deadline, or add the work to the demand",
			humanize.Span(t.Deadline),
			humanize.Span(t.window()),
		)
	case report.Deferrable.MissedShare() > mostMissed:
		c.Reason = reasonDeadlinesMissed
		c.Message = fmt.Sprintf(
			"%s of the work that may wait missed its deadline of %s in the last %s: raise maxReplicas if it is reached, or "+
				"lengthen the deadline",
			humanize.LateShare(report.Deferrable.MissedShare()),
			humanize.Span(t.Deadline),
			humanize.Period(report.Period),
		)
	}
	return c, c.Reason != ""
}

const (
	// includedSpan is the time over which work is compared with the demand, and leastIncluded the least number of steps.
	includedSpan, leastIncluded = 24 * time.Hour, 100
	// includedShare of the steps have work that is as much as the demand, if it contains it; includedSlope is how far from 1 its rise is for
	// each rise of the demand.
	includedShare, includedSlope = 0.99, 0.2
)

// includes reports whether work contains the demand: it is never less, and rises and falls by as much.
func includes(work, demand forecast.Series) bool {
	var n, above, product, square float64
	for i := 1; i < min(work.Len(), demand.Len()); i++ {
		rise, risen := demand.Values[i]-demand.Values[i-1], work.Values[i]-work.Values[i-1]
		if math.IsNaN(rise + risen) {
			continue
		}
		n++
		if work.Values[i] >= demand.Values[i] {
			above++
		}
		product, square = product+rise*risen, square+rise*rise
	}
	return n >= leastIncluded && above >= includedShare*n && square > 0 && math.Abs(product/square-1) <= includedSlope
}

// compareWork compares the newest work with the demand.
func (w *worker) compareWork(end time.Time) {
	from := end.Add(-includedSpan)
	w.result.workIncludes = w.work != nil && includes(w.work.Range(from, end), w.store.Range(from, end))
}
