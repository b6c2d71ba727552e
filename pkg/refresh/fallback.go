package refresh

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// entryOf is an entry with what the object specifies, without samples.
func entryOf(t Job) *snapshot.ForecastState {
	return &snapshot.ForecastState{
		Key: t.Key, Generation: t.Generation, Created: t.Created, Workload: t.Workload, Unit: t.Unit, Step: t.Step,
		Lead: t.Lead, LeadSource: t.LeadSource, LeadPool: t.LeadPool, Window: t.window(), Settings: t.boundedSettings(),
		AutoscalerSource: t.AutoscalerSource, Unused: t.Unused,
		Observed: math.NaN(), Skill: math.NaN(), Coverage: math.NaN(),
	}
}

// result is that of a Forecast's last refresh. entryAt applies the age of its data.
type result struct {
	// attempted: a query was answered or failed. stored: a query was answered.
	attempted, stored bool
	// err of the newest query, rereadErr of the history at an anchor.
	err, rereadErr error
	// entry as of the newest sample; nil while there is none.
	entry *snapshot.ForecastState
	// partial: it is made from the newest history only. wholeErr is why the whole of it could not be read.
	partial  bool
	wholeErr error
	// need is how much it needs the whole of its history.
	need float64
	// selected: a candidate is selected. span is the length of its history; less than a season does not have every
	// hour.
	selected     bool
	span, season time.Duration
	// fallback is served while no candidate can serve.
	fallback decide.Decision
	// cause is why a Forecast without a value has no samples; empty if that is not known.
	cause string
	// dropped counts the samples of the newest block that cannot be demand, newestDropped those that are newer than every demand.
	dropped, newestDropped series.Dropped
	sideResult

	// workIncludes: the work that may wait seems to contain the demand.
	workIncludes bool
	// classified is the current span in which the demand is censored or masked, if isClassified.
	classified   demand.Span
	isClassified bool
	// suspect describes the demand that is not believed yet, suddenLow the sudden low that is doubted; empty if there is none.
	suspect, suddenLow string
	// unit is the newest change of the demand's unit; nil where none is new.
	unit *demand.UnitChange
	// shape of the newest samples where they do not look like a demand.
	shape demand.Shape
	load  load
	// measured is what users saw, as of the newest time that it was judged; nil if that is unknown.
	measured *objective.Measured
	// withoutReplicas: the newest demand is 0 because there is no replica to report a sample.
	withoutReplicas bool
	// behindSince is when the clock was first observed to be behind the newest sample; zero while it is not.
	behindSince time.Time
}

// waits reports whether there is no history yet, for a cause that passes: a query that is wrong does not.
func (r *result) waits() bool {
	if r.stored || !r.attempted {
		return !r.attempted
	}
	reason := reasonOf(r.err)
	return reason == snapshot.ReasonUnavailable || reason == snapshot.ReasonQueryFailed
}

// entryAt is the entry to publish at a time.
func (r *result) entryAt(t Job, now time.Time) *snapshot.ForecastState {
	var e snapshot.ForecastState
	if r.entry == nil {
		e = *entryOf(t)
		e.State = snapshot.Pending
	} else {
		e = *r.entry
		e.PartialError = r.wholeErr
		r.applyFallback(&e, t, now)
	}
	e.Conditions = r.conditions(&e, t, now)
	return &e
}

// applyFallback decides by the age of the newest sample: the selected candidate, the running maximum, or no value.
func (r *result) applyFallback(e *snapshot.ForecastState, t Job, now time.Time) {
	age := r.dataAge(e, now)
	switch {
	case r.shape == demand.Counter:
		e.State, e.Decision, e.Model, e.Objective = snapshot.Invalid, decide.Decision{}, "", nil
	case age >= t.StaleAfter:
		e.State, e.Decision, e.Model = snapshot.Stale, decide.Decision{}, ""
	case age > forecaster.FallbackAfter(e.Step)+t.Delay:
		e.State = snapshot.FallingBack
		r.serveFallback(e)
	case !r.selected:
		e.State = snapshot.Warming
		r.serveFallback(e)
	case r.partial, r.span < r.season:
		e.State = snapshot.Warming
	default:
		e.State = snapshot.Ready
	}
}

// dataAge is the least age of the newest sample. A sample in the future means that the clock is behind. It ages from
// the moment at which that was first observed, so that it is not served for ever.
func (r *result) dataAge(e *snapshot.ForecastState, now time.Time) time.Duration {
	if !e.SampleTime.After(now) {
		r.behindSince = time.Time{}
		return now.Sub(e.SampleTime)
	}
	if r.behindSince.IsZero() || now.Before(r.behindSince) {
		r.behindSince = now
	}
	return now.Sub(r.behindSince)
}

// serveFallback replaces the decision by the fallback.
func (r *result) serveFallback(e *snapshot.ForecastState) {
	e.Decision, e.Fallback = r.fallback, true
	e.Model, e.Inputs, e.Path = windowpeak.RunningMax, nil, nil
	if r.fallback.Rule == decide.ByLastSeason {
		e.Model = windowpeak.LastSeason
	}
}

// conditions describe the state of the Forecast. A condition without a reason is not present.
func (r *result) conditions(e *snapshot.ForecastState, t Job, now time.Time) []snapshot.Condition {
	out := []snapshot.Condition{r.readyCondition(e, t, now), r.sourceCondition(e, t, now)}
	for _, c := range []snapshot.Condition{
		r.scaledToZeroCondition(e, t), r.dataCondition(), r.signalCondition(t), eventsCondition(e),
		r.saturatedCondition(), r.deferrableCondition(e.Objective, t),
	} {
		if c.Reason != "" {
			out = append(out, c)
		}
	}
	if report := e.Objective; report != nil {
		out = append(out, snapshot.Condition{
			Type: snapshot.ConditionObjective, True: report.Verdict == objective.Met,
			Reason: string(report.Verdict), Message: report.Message(),
		})
	}
	if t.Uncalibrated != "" {
		out = append(out, snapshot.Condition{
			Type: snapshot.ConditionUncalibrated, True: true, Reason: reasonTargetUnknown, Message: t.Uncalibrated,
		})
	}
	return out
}

func (r *result) readyCondition(e *snapshot.ForecastState, t Job, now time.Time) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionReady, Reason: string(e.State)}
	age := r.dataAge(e, now).Round(time.Second)
	switch e.State {
	case snapshot.Ready:
		c.True, c.Message = true, e.ModelReason()
	case snapshot.Warming:
		c.True, c.Message = true, r.warmingMessage(e)
	case snapshot.FallingBack:
		c.Message = fmt.Sprintf("%s: %s", r.newestSample(age), e.ModelReason())
	case snapshot.Stale:
		c.Message = fmt.Sprintf("%s, the limit is %s: nothing is served and the HPA keeps its replicas",
			r.newestSample(age), t.StaleAfter)
		switch {
		case r.lacksSeries():
			c.Message = r.cause + "; " + c.Message
		case !r.endsInDropped():
			c.Message += "; check the source"
		}
	case snapshot.Pending, snapshot.Invalid:
		c.Message = r.pendingMessage()
	}
	return c
}

// lacksSeries reports whether the source answers, has no samples, and it is known why.
func (r *result) lacksSeries() bool {
	return r.cause != "" && (r.err == nil || errors.Is(r.err, series.ErrNoSeries))
}

// endsInDropped reports whether the source answers, and its newest samples cannot be demand.
func (r *result) endsInDropped() bool { return r.err == nil && r.newestDropped.Any() }

// newestSample says how old the newest sample is that can be demand, and first of all which ones after it cannot.
func (r *result) newestSample(age time.Duration) string {
	if r.endsInDropped() {
		return fmt.Sprintf("%s; the newest sample that can be demand is %s old", r.newestDropped.Newest(), age)
	}
	return fmt.Sprintf("the newest sample is %s old", age)
}

func (r *result) pendingMessage() string {
	switch {
	case r.shape == demand.Counter:
		return counterMessage
	case r.lacksSeries():
		return r.cause
	case r.err != nil:
		return r.err.Error()
	case r.newestDropped.Any():
		return r.newestDropped.Newest() + "; the query has no other samples"
	case r.stored:
		return "the query has no sample that can be demand, a number from 0 to 1e15: check the query"
	}
	return "the history is being read"
}

func (r *result) sourceCondition(e *snapshot.ForecastState, t Job, now time.Time) snapshot.Condition {
	c := snapshot.Condition{
		Type: snapshot.ConditionSource, True: true, Reason: snapshot.ReasonAnswering,
		Message: "the newest query was answered",
	}
	if name := t.Source.Name; name != "" {
		c.Message += " by source " + name
	}
	if r.clusters > 1 {
		c.Message += fmt.Sprintf("; pods of this namespace are in %.0f clusters, and add up: if the store has "+
			"several clusters, the operator sets --cluster", r.clusters)
	}
	c.Message += r.doubts.deletedText()
	switch {
	case r.err != nil && r.lacksSeries():
		c.True, c.Reason, c.Message = false, reasonOf(r.err), r.cause
	case r.err != nil:
		c.True, c.Reason, c.Message = false, reasonOf(r.err), r.err.Error()
	case e.SampleTime.Sub(now) > t.Step:
		c.True, c.Reason = false, snapshot.ReasonClockBehind
		c.Message = fmt.Sprintf("the newest sample is %s ahead of this machine's clock: set the clock; "+
			"nothing new is fetched until it has caught up", e.SampleTime.Sub(now).Round(time.Second))
	case !r.stored:
		c.True, c.Reason, c.Message = false, snapshot.ReasonPending, "no query has been answered yet"
	}
	return c
}

// reasonOf is an error as the reason of a condition.
func reasonOf(err error) string {
	for _, known := range []struct {
		err    error
		reason string
	}{
		{series.ErrNoSeries, snapshot.ReasonNoSeries},
		{series.ErrSeveralSeries, snapshot.ReasonSeveralSeries},
		{series.ErrQuery, snapshot.ReasonQueryRefused},
		{series.ErrTooLarge, snapshot.ReasonAnswerTooLarge},
		{series.ErrUnavailable, snapshot.ReasonUnavailable},
	} {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	return snapshot.ReasonQueryFailed
}

// invalidEntry is the entry of an object with errors.
func invalidEntry(t Job) *snapshot.ForecastState {
	e := entryOf(t)
	e.State, e.Alias = snapshot.Invalid, t.Alias
	e.Conditions = []snapshot.Condition{{Type: snapshot.ConditionReady, Reason: string(e.State), Message: t.Invalid}}
	return e
}

// warmingMessage reports until when a new Forecast gains nothing: one season of history must exist before its next hour
// is known, and gaps delay that.
//
// Example: 7 h of a season of 24 h, the newest sample at 12:00: 05:00 of the next day at the earliest.
func (r *result) warmingMessage(e *snapshot.ForecastState) string {
	switch {
	case r.partial && r.wholeErr != nil:
		return fmt.Sprintf("the newest %s of history serves, because the whole could not be read yet: %s",
			humanize.Span(partialHistory), r.wholeErr)
	case r.partial:
		return "the newest " + humanize.Span(partialHistory) + " of history serves while the whole is being read"
	case r.span >= r.season:
		return fmt.Sprintf("%s of history, but no model has a score yet: without one the forecast gains nothing "+
			"over the observed demand; %s", humanize.Span(r.span.Round(time.Minute)), e.ModelReason())
	}
	until := e.SampleTime.Add(r.season - r.span).Round(time.Minute).UTC().Format("2006-01-02 15:04 UTC")
	const words = "%s of history: the forecast gains nothing over the observed demand before one season (%s), %s at the earliest; %s"
	return fmt.Sprintf(words, humanize.Span(r.span.Round(time.Minute)), humanize.Span(r.season.Round(time.Minute)),
		until, e.ModelReason())
}
