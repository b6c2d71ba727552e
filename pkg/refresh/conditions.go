package refresh

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Reasons of conditions that the loop alone gives. Their comments become docs/reference/conditions.md.

// Reasons of the condition Uncalibrated.
const (
	// reasonTargetUnknown (True): it is unknown what a replica sustains, so a quantile is served instead of the objective.
	//
	// Fix: let an HPA or a ScaledObject refer to the Forecast, or set spec.scaling.target. See
	// docs/objectives.md#what-a-replica-sustains.
	reasonTargetUnknown = "TargetUnknown"
)

// Reasons of the condition Saturated.
const (
	// reasonCensored (True): the service is saturated, so the demand is at least the observed one.
	//
	// Fix: raise maxReplicas, or use a signal that does not saturate.
	reasonCensored = "Censored"
)

// Reasons of the condition SignalPlausible.
const (
	// reasonAverage (False): the query is an average. An autoscaler needs the total: the average falls when it adds replicas.
	//
	// Fix: write sum() instead of avg().
	reasonAverage = "Average"
	// reasonFrozen (False): for an hour the value has been the same, and it changed all the time before.
	//
	// Fix: check the exporter, the recording rule or the federation behind the query.
	reasonFrozen = "Frozen"
	// reasonSilentReplicas (False): ready replicas report nothing to the preset, so their demand is missing.
	//
	// Fix: check that new pods are scraped. The preset is docs/signals.md#presets.
	reasonSilentReplicas = "SilentReplicas"
	// reasonOwnersUnknown (False): pods report to the preset of which kube-state-metrics does not say whose they are. The total of the
	// others might be too small, so there is no sample until it knows them.
	//
	// Fix: check that kube-state-metrics, every shard of it, runs, follows the cluster and is scraped.
	reasonOwnersUnknown = "OwnersUnknown"
	// reasonCopiesAddUp (False): the query adds up copies of one scrape, such as those of an HA pair of Prometheus servers.
	//
	// Fix: deduplicate the copies in the store, or take the greatest one before they are added up. See docs/stores.md#pairs-of-replicas.
	reasonCopiesAddUp = "CopiesAddUp"
	// reasonProfilingIdle (False): GPUs report a profiling field of 0 although they are busy, so their demand is missing.
	//
	// Fix: resume profiling (dcgmi profile --resume), and check that no other tool holds it.
	reasonProfilingIdle = "ProfilingIdle"
	// reasonWindowTooShort (False): the window of a rate has fewer than three samples, so a missed scrape loses demand.
	//
	// Fix: set --scrape-interval (prometheus.scrapeInterval in the chart), or a window of four intervals in the query. See
	// docs/signals.md#rates.
	reasonWindowTooShort = "WindowTooShort"
	// reasonTargetTooHigh (False): for half an hour replicas were saturated at less than a third of the autoscaler's target.
	//
	// Fix: measure what a replica sustains (forewarm capacity), and correct the target, or the unit of the query.
	reasonTargetTooHigh = "TargetTooHigh"
	// reasonTargetTooLow (False): for half an hour replicas carried three times the autoscaler's target and were not saturated.
	//
	// Fix: measure what a replica sustains (forewarm capacity), and correct the target, or the unit of the query.
	reasonTargetTooLow = "TargetTooLow"
	// reasonLatenessDiffers (False): for a day and a half three times as much was late as in the simulation, or a third. Nothing is
	// changed by it.
	//
	// Fix: the message has the likely cause: what a replica sustains (the target), what the query measures, or the signal. See
	// docs/objectives.md#measured-and-simulated.
	reasonLatenessDiffers = "LatenessDiffers"
	// reasonMeasuredUnusable (False): the query of objective.measured fails, or returns no share of requests.
	//
	// Fix: the message has the cause. Write one series from 0 to 1, or remove the field.
	reasonMeasuredUnusable = "MeasuredUnusable"
)

// Reasons of the condition EventsPlausible.
const (
	// reasonNoEffect (False): the last two occurrences of an event had hardly an effect: less than a quarter of what is known of it.
	//
	// Fix: remove the event, or correct its time or what is known of it. The outlook has what they came to.
	reasonNoEffect = "NoEffect"
	// reasonOverlap (False): two events are at the same time. The greater one counts.
	//
	// Fix: if their effects add up, write one event with both.
	reasonOverlap = "Overlap"
	// reasonNoLast (False): an event is like its last occurrence, and the history has none, so nothing is known of it.
	//
	// Fix: lengthen the history, or write atLeast or times. If the first one is still to come, wait.
	reasonNoLast = "NoLastOccurrence"
)

// Reasons of the condition DeferrablePlausible.
const (
	// reasonNotPlanned (False): nothing is calibrated, so work that may wait is not planned for.
	//
	// Fix: see the condition Uncalibrated.
	reasonNotPlanned = "NotPlanned"
	// reasonIncludesDemand (False): the work of deferrable.signal seems to contain the demand. Both are added up.
	//
	// Fix: leave the demand out of it, or write what is interactive alone into spec.signal.
	reasonIncludesDemand = "IncludesDemand"
	// reasonDeadlineTooShort (False): a new replica is not ready before the deadline.
	//
	// Fix: lengthen the deadline, or add the work to the demand.
	reasonDeadlineTooShort = "DeadlineTooShort"
	// reasonDeadlinesMissed (False): more than 1 % of the work missed its deadline.
	//
	// Fix: raise maxReplicas if it is reached, or lengthen the deadline.
	reasonDeadlinesMissed = "DeadlinesMissed"
)

// Reasons of the condition VariantsPlausible.
const (
	// reasonReadsWhole (False): an autoscaler reads the value for all variants, and so has replicas for the demand that the others have.
	//
	// Fix: add matchLabels {variant: NAME} to its metric; the message has the name.
	reasonReadsWhole = "ReadsWhole"
	// reasonVariantFull (False): replicas of a variant find no node, for longer than a start takes. It is asked for one more than are
	// on a node, and the other variants have the rest. Once that one has a node, it is asked for its whole part again.
	//
	// Fix: raise the limit of its nodes or its quota, or leave it to the other variants.
	reasonVariantFull = "VariantFull"
)

// Reasons of the condition ScaledToZero.
const (
	// reasonNoReplicas (True): the workload has no replicas, so a missing sample counts as demand 0.
	reasonNoReplicas = "NoReplicas"
)

// Reasons of the condition Paused.
const (
	// reasonAsBefore (True): the autoscaler has the replicas that the HPA of spec.scaling.before had.
	//
	// Fix: forewarm resume NAME ends it.
	reasonAsBefore = "AsBefore"
	// reasonBeforeAssumed (True): part of the HPA before is assumed, and the autoscaler may have more replicas than it had.
	//
	// Fix: the message has what to write to make it exact. forewarm resume NAME ends it.
	reasonBeforeAssumed = "BeforeAssumed"
	// reasonInvalidAnnotation (False): the annotation is neither true nor false, so the Forecast is not paused.
	//
	// Fix: set it by forewarm pause NAME, or remove it by forewarm resume NAME.
	reasonInvalidAnnotation = "InvalidAnnotation"
)

// eventsCondition is present while events contradict each other, or are not what came.
func eventsCondition(e *snapshot.ForecastSnapshot) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionEvents}
	var next []event.Occurrence
	for i := range e.Events {
		one := &e.Events[i]
		switch {
		case one.Failed():
			last := one.Effects[len(one.Effects)-1]
			came := humanize.Number(last.Times) + " times the usual demand"
			if one.AtLeast > 0 {
				came = "at most " + humanize.Number(last.Most)
			}
			c.Reason = reasonNoEffect
			c.Message = fmt.Sprintf("event %s had no effect twice: the demand of %s was %s; remove it, or correct it",
				one.Occurrence, formatTime(last.Start), came)
			return c
		case one.LikeLast && len(one.Effects) == 0:
			c.Reason = reasonNoLast
			const text = "event %s is like its last occurrence, and the history has none: nothing is known of it on %s"
			c.Message = fmt.Sprintf(text, one.Name, formatTime(one.Start))
		}
		next = append(next, one.Occurrence)
	}
	if a, b, ok := event.Overlap(next); ok && c.Reason == "" {
		c.Reason = reasonOverlap
		c.Message = fmt.Sprintf("events %s and %s are both at %s: the greater counts", a, b, formatTime(b.Start))
	}
	return c
}

// variantsCondition is present while a variant does not hold what it would be asked for, or an autoscaler reads what is for all.
func variantsCondition(e *snapshot.ForecastSnapshot, t *Job) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionVariants}
	var limited []string
	for _, part := range e.Parts {
		if part.Limited {
			replicas := humanize.Plural(int(math.Round(part.Value/part.Capacity)), "replica")
			limited = append(limited, fmt.Sprintf("variant %s is asked for %s and no more, because some have found no "+
				"node for longer than a start takes", part.Name, replicas))
		}
	}
	switch {
	case len(t.ReadWhole) > 0:
		c.Reason = reasonReadsWhole
		c.Message = fmt.Sprintf("%s reads the value for all variants: add matchLabels {variant: %s} to its metric",
			strings.Join(t.ReadWhole, ", "), t.Variants[0].Name)
	case len(limited) > 0:
		c.Reason = reasonVariantFull
		c.Message = strings.Join(limited, "; ") + "; the other variants have the rest"
	}
	return c
}

// conditions describe the state of the Forecast. A condition without a reason is not present.
func (r *result) conditions(e *snapshot.ForecastSnapshot, t Job, now time.Time) []snapshot.Condition {
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

func (r *result) readyCondition(e *snapshot.ForecastSnapshot, t Job, now time.Time) snapshot.Condition {
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

func (r *result) sourceCondition(e *snapshot.ForecastSnapshot, t Job, now time.Time) snapshot.Condition {
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

// warmingMessage reports until when a new Forecast gains nothing: one season of history must exist before its next hour
// is known, and gaps delay that.
//
// Example: 7 h of a season of 24 h, the newest sample at 12:00: 05:00 of the next day at the earliest.
func (r *result) warmingMessage(e *snapshot.ForecastSnapshot) string {
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

const (
	// flapTime: a problem that comes back within this time comes and goes. Its condition stays until the problem has been over for
	// calmTime. Other conditions stay until their problem has been over for twice as long as it was there, at most calmTime.
	flapTime = time.Hour
	calmTime = 30 * time.Minute
)

// problem is what was last said of a problem.
type problem struct {
	condition snapshot.Condition
	// since and last are when it was there, over when it was last said to be over. flaps: it comes and goes.
	since, last, over time.Time
	said, flaps       bool
	// initial: it was there from the beginning, and is not expected to come back.
	initial bool
}

// steady keeps the conditions of problems that come and go, so that they do not change with them.
func (w *worker) steady(conditions []snapshot.Condition, now time.Time) []snapshot.Condition {
	for _, kind := range []string{snapshot.ConditionSource, snapshot.ConditionData, snapshot.ConditionSignal} {
		at := slices.IndexFunc(conditions, func(c snapshot.Condition) bool { return c.Type == kind })
		p := w.problems[kind]
		switch bad := at >= 0 && !conditions[at].True; {
		case p == nil:
			w.problems[kind] = &problem{said: bad, initial: bad}
		case bad && p.said && conditions[at].Reason == snapshot.ReasonSuddenLow &&
			p.condition.Reason == snapshot.ReasonOutageSuspected && now.Sub(p.last) < p.lingers():
			p.last, conditions[at] = now, p.condition // An outage that comes back begins as a sudden low.
		case bad:
			if !p.said {
				p.since, p.flaps = now, now.Sub(p.over) < flapTime
			}
			p.condition, p.last, p.said = conditions[at], now, true
		case !p.said:
		case now.Sub(p.last) < p.lingers():
			c := p.condition
			c.Message += "; this is over since " + formatTime(p.last)
			if at < 0 {
				conditions = append(conditions, c)
			} else {
				conditions[at] = c
			}
		default:
			if !p.initial {
				p.over = now
			}
			p.said, p.flaps, p.initial = false, false, false
		}
	}
	return conditions
}

// lingers is how long the condition stays after the problem.
func (p *problem) lingers() time.Duration {
	switch {
	case p.initial:
		return 0
	case p.flaps:
		return calmTime
	}
	return min(2*p.last.Sub(p.since), calmTime)
}

// scaledToZeroCondition is present while the demand is 0 because there are no replicas.
func (r *result) scaledToZeroCondition(e *snapshot.ForecastSnapshot, t Job) snapshot.Condition {
	from, zero := t.ScaledToZero.ZeroSince(e.SampleTime)
	if r.entry == nil || !r.withoutReplicas || !zero {
		return snapshot.Condition{}
	}
	return snapshot.Condition{
		Type: snapshot.ConditionScaledToZero, True: true, Reason: reasonNoReplicas,
		Message: t.Workload + " is scaled to zero: a step without a sample is demand 0, since " + formatTime(from),
	}
}
