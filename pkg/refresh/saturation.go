package refresh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// besides is a series that is read beside the demand. It is not queried before retry: the demand, which the same refresh queries, must
// not wait for a signal that fails at every step.
type besides struct {
	retry    time.Time
	failures int
}

// fetch fetches what is new of a series since a time. Asked is false where it is not queried.
func (s *besides) fetch(
	ctx context.Context,
	w *worker,
	source Source,
	q Query,
	now time.Time,
) (block forecast.Series, asked bool, err error) {
	if q.Expr == "" || w.inRetryPause(now, s.retry) {
		return block, false, nil
	}
	block, err = fetchOnGrid(ctx, source, q)
	if errors.Is(err, series.ErrNoSeries) {
		block, err = q.Gaps(), nil // A queue that was never used has no series.
	}
	if err != nil {
		s.retry = now.Add(w.pauseAfter(s.failures))
		s.failures++
		return block, true, err
	}
	s.failures = 0
	return block, true, nil
}

// inheritBeside takes over what was read beside the demand by the same queries.
func (w *worker) inheritBeside(before *worker) {
	old := before.job
	if old.Saturated == w.job.Saturated {
		w.saturation = before.saturation
	}
	if old.Deferrable == w.job.Deferrable {
		w.work = before.work
	}
	if old.Measured == w.job.Measured && old.Settings.Over == w.job.Settings.Over {
		w.shares = before.shares
	}
}

// fetchSaturation fetches what is new of the saturation signal. While its query fails, samples count as observed; a later answer
// may change what has counted already.
func (w *worker) fetchSaturation(ctx context.Context, now time.Time, source Source) {
	if w.saturation == nil && w.job.Saturated != "" {
		w.saturation = newFlags(w.job.Step, w.maxSteps())
	}
	from := time.Time{}
	if w.saturation != nil {
		from = w.saturation.newestEnd()
	}
	block, asked, err := w.saturationSeries.fetch(ctx, w, source,
		w.queryAfter(w.job.Saturated, from, w.newestStep(now)), now)
	if !asked {
		return
	}
	var changed time.Time
	if err == nil {
		changed, err = w.saturation.add(block)
	}
	w.result.saturationErr = err
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
	case r.newestDropped.Any():
		c.Reason, c.Message = snapshot.ReasonSamplesDropped, r.newestDropped.Newest()
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
	case r.suddenLow != nil:
		c.Reason, c.Message = snapshot.ReasonSuddenLow, r.suddenLow.String()
	case r.unit != nil:
		return unitCondition(r.unit), true
	default:
		return snapshot.Condition{}, false
	}
	return c, true
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
