package refresh

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// entryOf returns an entry with what the object specifies, without samples.
func entryOf(t Job) *snapshot.ForecastSnapshot {
	return &snapshot.ForecastSnapshot{
		Key: t.Key, Generation: t.Generation, Created: t.Created, Workload: t.Workload, Unit: t.Unit, Step: t.Step,
		Lead: t.Lead, LeadSource: t.LeadSource, LeadPool: t.LeadPool, Window: t.window(), Settings: t.boundedSettings(),
		AutoscalerSource: t.AutoscalerSource, Unused: t.Unused,
		Observed: math.NaN(), Skill: math.NaN(), Coverage: math.NaN(),
	}
}

// result is the result of a Forecast's last refresh. entryAt takes the age of its data into account.
type result struct {
	// attempted is true once a query was answered or failed. stored is true once a query was answered.
	attempted, stored bool
	// err is the error of the newest query, rereadErr the error of the query for the history at an anchor.
	err, rereadErr error
	// entry is the entry as of the newest sample; nil while there is none.
	entry *snapshot.ForecastSnapshot
	// partial is true if the result comes from the newest history only. wholeErr says why the whole history could not be read.
	partial  bool
	wholeErr error
	// need is how urgently the Forecast needs its whole history.
	need float64
	// selected is true if a candidate is selected. span is the length of its history; a span shorter than season does not contain every hour.
	selected     bool
	span, season time.Duration
	// fallback is served while no candidate can serve.
	fallback decide.Decision
	// cause is why a Forecast without a value has no samples; empty if that is not known.
	cause string
	// dropped counts the samples in the newest block that cannot be demand, newestDropped those of them that are newer than every valid
	// sample.
	dropped, newestDropped series.Dropped
	sideResult

	// workIncludes is true if the deferrable work seems to include the demand.
	workIncludes bool
	// classified is the current span in which the demand is censored or masked. It is valid if isClassified is true.
	classified   demand.Span
	isClassified bool
	// suspect describes demand that is not believed yet, and suddenLow a sudden low that is doubted; each is empty if there is none.
	suspect, suddenLow string
	// unit is the newest change of the demand's unit; nil if there is no recent one.
	unit *demand.UnitChange
	// shape is the shape of the newest samples if they do not look like demand.
	shape demand.Shape
	load  load
	// measured is the lateness that users experienced, as of the last judgment; nil if it is unknown.
	measured *objective.Measured
	// withoutReplicas is true if the newest demand is 0 because there is no replica to report a sample.
	withoutReplicas bool
	// behindSince is when the clock was first observed to be behind the newest sample; zero while it is not behind.
	behindSince time.Time
}

// waits reports whether there is no history yet for a temporary reason. A wrong query is not temporary.
func (r *result) waits() bool {
	if r.stored || !r.attempted {
		return !r.attempted
	}
	reason := reasonOf(r.err)
	return reason == snapshot.ReasonUnavailable || reason == snapshot.ReasonQueryFailed
}

// entryAt returns the entry to publish at a time.
func (r *result) entryAt(t Job, now time.Time) *snapshot.ForecastSnapshot {
	var e snapshot.ForecastSnapshot
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

// applyFallback decides by the age of the newest sample whether to serve the selected candidate, the running maximum, or no value.
func (r *result) applyFallback(e *snapshot.ForecastSnapshot, t Job, now time.Time) {
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

// dataAge returns the minimum age of the newest sample. A sample in the future means that the clock is behind. Its age is then counted from
// the moment at which that was first observed, so that it is not served forever.
func (r *result) dataAge(e *snapshot.ForecastSnapshot, now time.Time) time.Duration {
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
func (r *result) serveFallback(e *snapshot.ForecastSnapshot) {
	e.Decision, e.Fallback = r.fallback, true
	e.Model, e.Inputs, e.Path = windowpeak.RunningMax, nil, nil
	if r.fallback.Rule == decide.ByLastSeason {
		e.Model = windowpeak.LastSeason
	}
}

// invalidEntry returns the entry of an object with errors.
func invalidEntry(t Job) *snapshot.ForecastSnapshot {
	e := entryOf(t)
	e.State, e.Alias = snapshot.Invalid, t.Alias
	e.Conditions = []snapshot.Condition{{Type: snapshot.ConditionReady, Reason: string(e.State), Message: t.Invalid}}
	return e
}
