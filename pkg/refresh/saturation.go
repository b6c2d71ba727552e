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
	if w.target.Saturated == "" || w.inRetryPause(now, w.saturationRetry) {
		return
	}
	if w.saturation == nil {
		w.saturation = newFlags(w.target.Step, w.maxSteps())
	}
	q := w.queryAfter(w.target.Saturated, w.saturation.newestEnd(), w.newestStep(now))
	block, err := fetchOnGrid(ctx, source, q)
	if errors.Is(err, series.ErrNoSeries) {
		block, err = gapSeries(q), nil // A queue that was never used has no series: the service was not saturated.
	}
	if w.found.saturationErr = err; err != nil {
		w.saturationRetry = now.Add(min(w.target.Step<<min(w.saturationFailures, 10), maxRetryPause))
		w.saturationFailures++
		return
	}
	w.saturationFailures = 0
	var changed time.Time
	changed, w.found.saturationErr = w.saturation.add(block)
	w.noteChange(changed)
}

// saturatedCondition is present while the demand is censored, and while the query of the saturation signal fails.
func (v *view) saturatedCondition() (snapshot.Condition, bool) {
	switch {
	case v.saturationErr != nil:
		return snapshot.Condition{
			Type:   snapshot.ConditionSaturated,
			Reason: reasonOf(v.saturationErr),
			Message: fmt.Sprintf("the query of signal.saturated failed, so the demand counts as observed: %s",
				v.saturationErr),
		}, true
	case v.isClassified && v.classified.Cause.Kind() == demand.Censored:
		return snapshot.Condition{
			Type:   snapshot.ConditionSaturated,
			True:   true,
			Reason: snapshot.ReasonCensored,
			Message: fmt.Sprintf("since %s the demand is at least the observed value: %s",
				formatTime(v.classified.From), v.classified.Cause),
		}, true
	}
	return snapshot.Condition{}, false
}

// dataCondition is present while samples do not count as observed.
func (v *view) dataCondition() (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionData}
	switch {
	case v.dropped.Any():
		c.Reason, c.Message = snapshot.ReasonSamplesDropped, v.dropped.String()
	case v.suspect != nil:
		c.Reason, c.Message = snapshot.ReasonSuspect, v.suspect.String()
	case v.isClassified && v.classified.Cause == demand.Incomplete:
		c.Reason = snapshot.ReasonIncomplete
		c.Message = fmt.Sprintf("since %s samples are below those before, and the source still adds to samples of "+
			"this age: what was observed before counts until they are complete; if the source always lags, set "+
			"signal.delay", formatTime(v.classified.From))
	case v.isClassified && v.classified.Cause == demand.Outage:
		c.Reason = snapshot.ReasonOutageSuspected
		c.Message = fmt.Sprintf("since %s the demand is suddenly near 0, which looks like an outage: the demand "+
			"before it counts for %s, then half as much every %s; check the workload, its scrape and the query; "+
			"if the demand is gone, nothing needs to be done", formatTime(v.classified.From),
			humanize.Span(demand.OutageHold), humanize.Span(demand.OutageHalfLife))
	default:
		return snapshot.Condition{}, false
	}
	return c, true
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
