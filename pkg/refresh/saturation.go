package refresh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// fetchSaturation fetches what is new of the saturation signal. While its query fails, samples count as observed; a later answer
// may change what has counted already.
func (w *worker) fetchSaturation(ctx context.Context, now time.Time, source Source) {
	if w.job.Saturated == "" || w.inRetryPause(now, w.saturationRetry) {
		return
	}
	if w.saturation == nil {
		w.saturation = newFlags(w.job.Step, w.maxSteps())
	}
	q := w.queryAfter(w.job.Saturated, w.saturation.newestEnd(), w.newestStep(now))
	block, err := fetchOnGrid(ctx, source, q)
	if errors.Is(err, series.ErrNoSeries) {
		block, err = q.Gaps(), nil // A queue that was never used has no series: the service was not saturated.
	}
	if w.result.saturationErr = err; err != nil {
		w.saturationRetry = now.Add(min(w.job.Step<<min(w.saturationFailures, 10), maxRetryPause))
		w.saturationFailures++
		return
	}
	w.saturationFailures = 0
	var changed time.Time
	changed, w.result.saturationErr = w.saturation.add(block)
	w.noteChange(changed)
}

// saturatedCondition is present while the demand is censored, and while the query of the saturation signal fails.
func (r *result) saturatedCondition() (snapshot.Condition, bool) {
	switch {
	case r.saturationErr != nil:
		return snapshot.Condition{
			Type:   snapshot.ConditionSaturated,
			Reason: reasonOf(r.saturationErr),
			Message: fmt.Sprintf("the query of signal.saturated failed, so the demand counts as observed: %s",
				r.saturationErr),
		}, true
	case r.isClassified && r.classified.Cause.Kind() == demand.Censored:
		return snapshot.Condition{
			Type:   snapshot.ConditionSaturated,
			True:   true,
			Reason: reasonCensored,
			Message: fmt.Sprintf("since %s the demand is at least the observed value: %s",
				formatTime(r.classified.From), r.classified.Cause),
		}, true
	}
	return snapshot.Condition{}, false
}

// dataCondition is present while samples do not count as observed.
func (r *result) dataCondition() (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionData}
	switch {
	case r.dropped.Any():
		c.Reason, c.Message = snapshot.ReasonSamplesDropped, r.dropped.String()
	case r.suspect != nil:
		c.Reason, c.Message = snapshot.ReasonSuspect, r.suspect.String()
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
	default:
		return snapshot.Condition{}, false
	}
	return c, true
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
