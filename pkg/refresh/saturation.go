package refresh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// askLimit asks for what is new of the limit signal. Where it fails the samples count as they are; what comes after all
// counts from there on, and where it says that samples were lower bounds that have counted already, the state is built
// anew, as who starts now would.
func (w *worker) askLimit(ctx context.Context, now time.Time, source Source) {
	if w.target.Saturated == "" || w.pauses(now, w.limitRetry) {
		return
	}
	if w.limits == nil {
		w.limits = series.NewFlags(w.target.Step, w.kept())
	}
	q := w.missing(w.target.Saturated, w.limits.End(), w.newest(now))
	block, err := fetch(ctx, source, q)
	if errors.Is(err, series.ErrNone) {
		block, err = gaps(q), nil // A queue that never was has no series: the service was not at its limit.
	}
	if w.found.limitErr = err; err != nil {
		w.limitRetry = now.Add(min(w.target.Step<<min(w.limitFailures, 10), longestRetry))
		w.limitFailures++
		return
	}
	w.limitFailures = 0
	if w.found.limitErr = w.limits.Append(block); w.found.limitErr != nil {
		return
	}
	if w.forecaster != nil && saturatedBefore(block, w.forecaster.Read()) {
		w.forecaster = nil
	}
}

func saturatedBefore(limits forecast.Series, end time.Time) bool {
	for i, v := range limits.Values {
		if v > 0 && limits.TimeAt(i).Before(end) {
			return true
		}
	}
	return false
}

// saturated is there while the demand is no less than what is seen, and while it is not known whether it is.
func (v *view) saturated() (snapshot.Condition, bool) {
	switch {
	case v.limitErr != nil:
		return snapshot.Condition{
			Type:   snapshot.ConditionSaturated,
			Reason: reasonOf(v.limitErr),
			Message: fmt.Sprintf(
				"the query of signal.saturated failed, the demand counts as it is seen: %s",
				v.limitErr,
			),
		}, true
	case v.doubted && v.doubt.Cause.Kind() == classify.LowerBound:
		return snapshot.Condition{
			Type:   snapshot.ConditionSaturated,
			True:   true,
			Reason: "LowerBound",
			Message: fmt.Sprintf(
				"since %s the demand is no less than what is seen: %s",
				clock(v.doubt.From),
				v.doubt.Cause,
			),
		}, true
	}
	return snapshot.Condition{}, false
}

// data is there while samples do not count for what they are.
func (v *view) data() (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionData}
	switch {
	case v.dropped.Any():
		c.Reason, c.Message = "SamplesDropped", v.dropped.String()
	case v.suspect != nil:
		c.Reason, c.Message = snapshot.ReasonSuspect, v.suspect.String()
	case v.doubted && v.doubt.Cause == classify.Outage:
		c.Reason = "OutageSuspected"
		c.Message = fmt.Sprintf("since %s nothing, at once and unusually: the demand before it holds for %s at most",
			clock(v.doubt.From), classify.Patience)
	default:
		return snapshot.Condition{}, false
	}
	return c, true
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
