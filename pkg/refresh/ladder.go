package refresh

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// describe is an entry of what the object says alone.
func describe(t Target) *snapshot.Entry {
	return &snapshot.Entry{
		Key:           t.Key,
		Generation:    t.Generation,
		Workload:      t.Workload,
		Unit:          t.Unit,
		Step:          t.Step,
		Lead:          t.Lead,
		LeadSource:    t.LeadSource,
		LeadPool:      t.LeadPool,
		Window:        leadtime.Window(t.Lead),
		Policy:        t.policy(),
		ScalingSource: t.ScalingSource,
		Observed:      math.NaN(),
		Skill:         math.NaN(),
		Coverage:      math.NaN(),
	}
}

// view is what is known of a Forecast since its last query, before it ages.
type view struct {
	// attempted: a query was answered or failed; stored: one was answered.
	attempted, stored bool
	// err of the newest query.
	err error
	// entry as of the newest sample; nil while there is none.
	entry *snapshot.Entry
	// decided: a candidate serves. span is how much history it has seen; less than a season has not every hour.
	decided      bool
	span, season time.Duration
	// fallback is served while no candidate can be.
	fallback decide.Decision
	dropped  series.Dropped
	// limitErr of the newest query of the limit signal.
	limitErr error
	// doubt is the span that lasts, where the demand is not simply known.
	doubt   classify.Span
	doubted bool
	// suspect is the demand that is held back; nil where none is.
	suspect *suspect
	// absent: the newest demand is 0 because there is no replica to have a sample.
	absent bool
	// behind is when the clock was first seen to be behind the newest sample; zero while it is not.
	behind time.Time
}

// at is what is served at a time.
func (v *view) at(t Target, now time.Time) *snapshot.Entry {
	var e snapshot.Entry
	if v.entry == nil {
		e = *describe(t)
		e.State = snapshot.Pending
	} else {
		e = *v.entry
		v.ladder(&e, t, now)
	}
	e.Conditions = v.conditions(&e, t, now)
	return &e
}

// ladder chooses the rung by the age of the newest sample: the model, the running maximum, nothing.
func (v *view) ladder(e *snapshot.Entry, t Target, now time.Time) {
	age := v.age(e, now)
	switch {
	case age >= t.StaleAfter:
		e.State, e.Decision, e.Model = snapshot.Stale, decide.Decision{}, ""
	case age > forecaster.Late(e.Step):
		e.State = snapshot.FallingBack
		v.fallBack(e)
	case !v.decided:
		e.State = snapshot.Warming
		v.fallBack(e)
	case v.span < v.season:
		e.State = snapshot.Warming
	default:
		e.State = snapshot.Ready
	}
}

// age is how old the newest sample is at least. One of a time to come shows that the clock is behind: it ages from the
// moment on at which that was seen, so that it is not served for ever.
func (v *view) age(e *snapshot.Entry, now time.Time) time.Duration {
	if !e.SampleTime.After(now) {
		v.behind = time.Time{}
		return now.Sub(e.SampleTime)
	}
	if v.behind.IsZero() || now.Before(v.behind) {
		v.behind = now
	}
	return now.Sub(v.behind)
}

// fallBack serves what the forecaster falls back on.
func (v *view) fallBack(e *snapshot.Entry) {
	e.Decision, e.Fallback = v.fallback, true
	e.Model, e.Inputs, e.Path = windowpeak.RunningMax, nil, nil
	if v.fallback.Rule == decide.ByLastSeason {
		e.Model = windowpeak.LastSeason
	}
}

// conditions say in words what is going on.
func (v *view) conditions(e *snapshot.Entry, t Target, now time.Time) []snapshot.Condition {
	out := []snapshot.Condition{v.ready(e, t, now), v.source(e, t, now)}
	if c, there := v.atZero(e, t); there {
		out = append(out, c)
	}
	if c, there := v.data(); there {
		out = append(out, c)
	}
	if c, there := v.saturated(); there {
		out = append(out, c)
	}
	if r := e.Outcome; r != nil {
		out = append(out, snapshot.Condition{
			Type:    snapshot.ConditionObjective,
			True:    r.Verdict == outcome.Met,
			Reason:  string(r.Verdict),
			Message: r.Words(),
		})
	}
	if t.Uncalibrated != "" {
		out = append(out, snapshot.Condition{
			Type: snapshot.ConditionUncalibrated, True: true, Reason: "TargetUnknown", Message: t.Uncalibrated,
		})
	}
	return out
}

func (v *view) ready(e *snapshot.Entry, t Target, now time.Time) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionReady, Reason: string(e.State)}
	age := v.age(e, now).Round(time.Second)
	switch e.State {
	case snapshot.Ready:
		c.True, c.Message = true, e.ModelReason()
	case snapshot.Warming:
		c.True, c.Message = true, v.warming(e)
	case snapshot.FallingBack:
		c.Message = fmt.Sprintf("the newest sample is %s old: %s", age, e.ModelReason())
	case snapshot.Stale:
		c.Message = fmt.Sprintf(
			"the newest sample is %s old, more than %s: nothing is served, the HPA keeps what it has",
			age,
			t.StaleAfter,
		)
	case snapshot.Pending, snapshot.Invalid:
		c.Message = v.pending()
	}
	return c
}

func (v *view) pending() string {
	switch {
	case v.err != nil:
		return v.err.Error()
	case v.stored:
		return "the query has a series, but no sample that is demand"
	}
	return "the history is being read"
}

func (v *view) source(e *snapshot.Entry, t Target, now time.Time) snapshot.Condition {
	c := snapshot.Condition{
		Type:    snapshot.ConditionSource,
		True:    true,
		Reason:  "Answering",
		Message: "the newest query was answered",
	}
	switch {
	case v.err != nil:
		c.True, c.Reason, c.Message = false, reasonOf(v.err), v.err.Error()
	case e.SampleTime.Sub(now) > t.Step:
		c.True, c.Reason = false, "ClockBehind"
		c.Message = fmt.Sprintf("the newest sample is %s ahead of this machine's clock: set the clock; "+
			"nothing new is asked for until it has caught up", e.SampleTime.Sub(now).Round(time.Second))
	case !v.stored:
		c.True, c.Reason, c.Message = false, "Pending", "no query was answered yet"
	}
	return c
}

// reasonOf is a fault in one CamelCase word.
func reasonOf(err error) string {
	for _, known := range []struct {
		err    error
		reason string
	}{
		{series.ErrNone, "NoSeries"},
		{series.ErrMany, "SeveralSeries"},
		{series.ErrQuery, "QueryRefused"},
		{series.ErrTooLarge, "AnswerTooLarge"},
		{series.ErrUnavailable, "Unavailable"},
	} {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	return "QueryFailed"
}

// invalid is the entry of an object with errors.
func invalid(t Target) *snapshot.Entry {
	e := describe(t)
	e.State = snapshot.Invalid
	e.Conditions = []snapshot.Condition{{
		Type: snapshot.ConditionReady, Reason: string(snapshot.Invalid), Message: t.Invalid,
	}}
	return e
}
