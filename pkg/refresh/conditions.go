package refresh

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Reasons of conditions that only the loop sets. docs/reference/conditions.md is generated from these comments.

// Reasons of the condition Uncalibrated.
const (
	// reasonTargetUnknown (True): Forewarm does not know what a replica sustains, so it serves a quantile instead of the objective.
	//
	// Fix: let an HPA or a ScaledObject refer to the Forecast, or set spec.scaling.target. See
	// docs/objectives.md#what-a-replica-sustains.
	reasonTargetUnknown = "TargetUnknown"
)

// Reasons of the condition Saturated.
const (
	// reasonCensored (True): the workload is saturated, so the real demand may be higher than the observed demand.
	//
	// Fix: raise maxReplicas, or use a signal that does not saturate.
	reasonCensored = "Censored"
)

// Reasons of the condition SignalPlausible.
const (
	// reasonAverage (False): the query is an average. An autoscaler needs the total, because an average falls when the autoscaler adds
	// replicas.
	//
	// Fix: use sum() instead of avg().
	reasonAverage = "Average"
	// reasonFrozen (False): the value has not changed for an hour, although it changed constantly before.
	//
	// Fix: check the exporter, the recording rule or the federation behind the query.
	reasonFrozen = "Frozen"
	// reasonSilentReplicas (False): some ready replicas have no series for the preset, so their demand is missing.
	//
	// Fix: check that new pods are scraped. See docs/signals.md#presets.
	reasonSilentReplicas = "SilentReplicas"
	// reasonOwnersUnknown (False): some pods have series for the preset, but kube-state-metrics does not report their owners. The total
	// of the other pods might be too low, so Forewarm uses no new samples until the owners are known.
	//
	// Fix: check that all shards of kube-state-metrics run, are up to date with the cluster, and are scraped.
	reasonOwnersUnknown = "OwnersUnknown"
	// reasonCopiesAddUp (False): the query adds up several copies of the same scrape, for example from an HA pair of Prometheus servers.
	//
	// Fix: deduplicate the copies in the store, or use max to select one copy before the query adds them up. See
	// docs/stores.md#pairs-of-replicas.
	reasonCopiesAddUp = "CopiesAddUp"
	// reasonProfilingIdle (False): a profiling field of some GPUs is 0 although they are busy, so their demand is missing.
	//
	// Fix: resume profiling (dcgmi profile --resume), and check that no other tool uses the profiling counters.
	reasonProfilingIdle = "ProfilingIdle"
	// reasonWindowTooShort (False): the window of a rate contains fewer than three samples, so a part of the demand is missing if one
	// scrape fails.
	//
	// Fix: set --scrape-interval (prometheus.scrapeInterval in the chart), or use a window of four scrape intervals in the query. See
	// docs/signals.md#rates.
	reasonWindowTooShort = "WindowTooShort"
	// reasonTargetTooHigh (False): for half an hour, replicas were saturated at less than a third of the autoscaler's target.
	//
	// Fix: measure what a replica sustains (forewarm capacity). Then correct the target or the unit of the query.
	reasonTargetTooHigh = "TargetTooHigh"
	// reasonTargetTooLow (False): for half an hour, each replica served more than three times the autoscaler's target and was not
	// saturated.
	//
	// Fix: measure what a replica sustains (forewarm capacity). Then correct the target or the unit of the query.
	reasonTargetTooLow = "TargetTooLow"
	// reasonLatenessDiffers (False): for a day and a half, the measured lateness was at least three times the simulated lateness, or at
	// most a third of it. The difference does not change what Forewarm serves.
	//
	// Fix: see the message for the likely cause: the target does not match what a replica sustains, the query measures something else, or
	// the signal is wrong. See docs/objectives.md#measured-and-simulated.
	reasonLatenessDiffers = "LatenessDiffers"
	// reasonMeasuredUnusable (False): the query of objective.measured fails, or does not return a share of requests.
	//
	// Fix: see the message for the cause. Write a query that returns one series with values from 0 to 1, or remove the field.
	reasonMeasuredUnusable = "MeasuredUnusable"
)

// Reasons of the condition AutoscalersActive.
const (
	// reasonDisabledAtZero (False): the workload has no replicas, and its HPA reads no metrics, because the HPA did not scale it to zero
	// itself. The HPA was created or restored while the workload was at zero, something else scaled the workload to zero, or the cluster
	// does not allow scaling to zero.
	//
	// Fix: scale the workload to 1 replica (kubectl scale --replicas=1). See docs/hpa.md#scale-to-zero.
	reasonDisabledAtZero = "DisabledAtZero"
)

// Reasons of the condition EventsPlausible.
const (
	// reasonNoEffect (False): the last two occurrences of an event had almost no effect: less than a quarter of the expected effect.
	//
	// Fix: remove the event, or correct its time or its expected effect. The outlook shows the effect of each occurrence.
	reasonNoEffect = "NoEffect"
	// reasonOverlap (False): two events overlap. Forewarm uses the event with the larger effect.
	//
	// Fix: if the effects add up, write one event with the combined effect.
	reasonOverlap = "Overlap"
	// reasonNoLast (False): an event is expected to be like its last occurrence, but the history does not contain an occurrence. Forewarm
	// therefore does not know the effect of the event.
	//
	// Fix: lengthen the history, or set atLeast or times. If the event has not occurred yet, wait for the first occurrence.
	reasonNoLast = "NoLastOccurrence"
	// reasonNoTarget (False): an event asks for replicas, but Forewarm does not know what one replica sustains. The event has no
	// effect.
	//
	// Fix: let a HorizontalPodAutoscaler or a ScaledObject read the Forecast, or set spec.scaling.target.
	reasonNoTarget = "TargetUnknown"
)

// Reasons of the condition DeferrablePlausible.
const (
	// reasonNotPlanned (False): Forewarm cannot calibrate the Forecast, so it does not plan capacity for deferrable work.
	//
	// Fix: see the condition Uncalibrated.
	reasonNotPlanned = "NotPlanned"
	// reasonIncludesDemand (False): the work of deferrable.signal seems to include the demand of spec.signal. Forewarm adds the work to
	// the demand, so it counts the demand twice.
	//
	// Fix: exclude the demand from deferrable.signal, or restrict spec.signal to interactive demand.
	reasonIncludesDemand = "IncludesDemand"
	// reasonDeadlineTooShort (False): the deadline is shorter than the time until a new replica is ready.
	//
	// Fix: lengthen the deadline, or add the work to the demand.
	reasonDeadlineTooShort = "DeadlineTooShort"
	// reasonDeadlinesMissed (False): more than 1 % of the work missed its deadline.
	//
	// Fix: if the workload reaches maxReplicas, raise maxReplicas. Otherwise, lengthen the deadline.
	reasonDeadlinesMissed = "DeadlinesMissed"
)

// Reasons of the condition VariantsPlausible.
const (
	// reasonReadsWhole (False): an autoscaler reads the value for all variants, so it also adds replicas for the demand of the other
	// variants.
	//
	// Fix: add matchLabels {variant: NAME} to its metric. The message contains the name.
	reasonReadsWhole = "ReadsWhole"
	// reasonVariantFull (False): replicas of a variant have been without a node for longer than a start takes. Forewarm requests one
	// replica more than the variant has on nodes, and the other variants serve the rest. Once the additional replica has a node,
	// Forewarm requests the full part of the variant again.
	//
	// Fix: raise the node limit or the quota of the variant, or let the other variants serve the rest.
	reasonVariantFull = "VariantFull"
)

// Reasons of the condition ScaledToZero.
const (
	// reasonNoReplicas (True): the workload has no replicas, so a missing sample counts as a demand of 0.
	reasonNoReplicas = "NoReplicas"
)

// Reasons of the condition Paused.
const (
	// reasonAsBefore (True): the autoscaler runs as many replicas as the HPA of spec.scaling.before would.
	//
	// Fix: to end the pause, run forewarm resume NAME.
	reasonAsBefore = "AsBefore"
	// reasonBeforeAssumed (True): Forewarm does not know all settings of the previous HPA, and assumes the others. The autoscaler may run
	// more replicas than that HPA would.
	//
	// Fix: add the settings that the message lists, so that the autoscaler behaves like the previous HPA. To end the pause, run forewarm
	// resume NAME.
	reasonBeforeAssumed = "BeforeAssumed"
	// reasonInvalidAnnotation (False): the annotation is neither true nor false, so the Forecast is not paused.
	//
	// Fix: set the annotation with forewarm pause NAME, or remove it with forewarm resume NAME.
	reasonInvalidAnnotation = "InvalidAnnotation"
)

// eventsCondition is present while events overlap, or do not match the demand that was observed.
func eventsCondition(e *snapshot.ForecastSnapshot, t *Job) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionEvents}
	var next []event.Occurrence
	for i := range e.Events {
		one := &e.Events[i]
		switch {
		case one.Failed():
			last := one.Effects[len(one.Effects)-1]
			effect := humanize.Number(last.Times) + " times the usual demand"
			if one.AtLeast > 0 {
				effect = "at most " + humanize.Number(last.Most)
			}
			c.Reason = reasonNoEffect
			c.Message = fmt.Sprintf("the last two occurrences of event %s had no effect: at %s, the demand was "+
				"only %s; remove the event, or correct its time or effect", one.Occurrence, formatTime(last.Start),
				effect)
			return c
		case one.LikeLast && len(one.Effects) == 0:
			c.Reason = reasonNoLast
			const text = "event %s is expected to be like its last occurrence, but the history does not contain one, so " +
				"its effect at %s is unknown: lengthen the history, or set atLeast or times"
			c.Message = fmt.Sprintf(text, one.Name, formatTime(one.Start))
		case one.Replicas > 0:
			if decide.ValueOf(t.Autoscalers, one.Replicas) == 0 {
				const text = "event %s has no effect, because Forewarm does not know what one replica sustains: let a " +
					"HorizontalPodAutoscaler or a ScaledObject read this Forecast, or set spec.scaling.target"
				c.Reason, c.Message = reasonNoTarget, fmt.Sprintf(text, one.Occurrence)
			}
			continue // It says nothing about the demand, so it contradicts no other event.
		}
		next = append(next, one.Occurrence)
	}
	if a, b, ok := event.Overlap(next); ok && c.Reason == "" {
		c.Reason = reasonOverlap
		c.Message = fmt.Sprintf("events %s and %s overlap at %s: Forewarm uses the one with the larger effect", a, b,
			formatTime(b.Start))
	}
	return c
}

// variantsCondition is present while a variant cannot run its part, or while an autoscaler reads the value for all variants.
func variantsCondition(e *snapshot.ForecastSnapshot, t *Job) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionVariants}
	var limited []string
	for _, part := range e.Parts {
		if part.Limited {
			replicas := humanize.Plural(int(math.Round(part.Value/part.Capacity)), "replica")
			limited = append(limited, fmt.Sprintf("Forewarm requests only %s of variant %s, because some of its "+
				"replicas have been without a node for longer than a start takes", replicas, part.Name))
		}
	}
	switch {
	case len(t.ReadWhole) > 0:
		c.Reason = reasonReadsWhole
		c.Message = fmt.Sprintf("%s reads the value for all variants instead of its own part: add matchLabels "+
			"{variant: %s} to its metric", strings.Join(t.ReadWhole, ", "), t.Variants[0].Name)
	case len(limited) > 0:
		c.Reason = reasonVariantFull
		c.Message = strings.Join(limited, "; ") + "; the other variants serve the rest"
	}
	return c
}

// conditions describe the state of the Forecast. A condition without a reason is not present.
func (r *result) conditions(e *snapshot.ForecastSnapshot, t Job, now time.Time) []snapshot.Condition {
	out := []snapshot.Condition{r.readyCondition(e, t, now), r.sourceCondition(e, t, now)}
	for _, c := range []snapshot.Condition{
		r.scaledToZeroCondition(e, t), r.dataCondition(), r.signalCondition(t), eventsCondition(e, &t),
		r.saturatedCondition(), r.deferrableCondition(e.Objective, t), autoscalersCondition(e, t, now),
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

// autoscalersCondition says that autoscalers do not wake a workload for which demand is expected.
func autoscalersCondition(e *snapshot.ForecastSnapshot, t Job, now time.Time) snapshot.Condition {
	if len(t.DisabledAtZero) == 0 || !e.State.Serves() ||
		!e.Decision.ExpectsDemand(e.Settings) && !e.IsReturnDue(now) {
		return snapshot.Condition{}
	}
	kind, name, _ := strings.Cut(t.Workload, "/")
	return snapshot.Condition{
		Type: snapshot.ConditionAutoscalers, Reason: reasonDisabledAtZero,
		Message: fmt.Sprintf("%s does not scale %s, which has 0 replicas, because it did not scale it to zero itself "+
			"(ScalingDisabled); demand is expected: run kubectl scale --replicas=1 %s/%s -n %s",
			humanize.List(t.DisabledAtZero), t.Workload, strings.ToLower(kind), name, t.Key.Namespace),
	}
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
		c.Message = fmt.Sprintf("%s, so Forewarm serves a fallback: %s", r.newestSample(age), e.ModelReason())
	case snapshot.Stale:
		c.Message = fmt.Sprintf("%s, and the limit is %s: Forewarm serves no value, and the HPA keeps its replicas",
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

// lacksSeries reports whether the source answers without samples, and the reason is known.
func (r *result) lacksSeries() bool {
	return r.cause != "" && (r.err == nil || errors.Is(r.err, series.ErrNoSeries))
}

// endsInDropped reports whether the source answers, but its newest samples cannot be demand.
func (r *result) endsInDropped() bool { return r.err == nil && r.newestDropped.Any() }

// newestSample says how old the newest valid sample is. The text begins with the newer samples that were dropped.
func (r *result) newestSample(age time.Duration) string {
	if r.endsInDropped() {
		return fmt.Sprintf("%s; the newest valid sample is %s old", r.newestDropped.Newest(), age)
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
		return r.newestDropped.Newest() + "; the query returned no other samples"
	case r.stored:
		return "the query returned no valid sample (a number from 0 to 1e15): check the query"
	}
	return "Forewarm is reading the history"
}

func (r *result) sourceCondition(e *snapshot.ForecastSnapshot, t Job, now time.Time) snapshot.Condition {
	c := snapshot.Condition{
		Type: snapshot.ConditionSource, True: true, Reason: snapshot.ReasonAnswering,
		Message: "the source answered the newest query",
	}
	if name := t.Source.Name; name != "" {
		c.Message = "source " + name + " answered the newest query"
	}
	if r.clusters > 1 {
		c.Message += fmt.Sprintf("; the store has pods of this namespace from %.0f clusters, and the query adds "+
			"them up: to select one cluster, set --cluster on the Forewarm server", r.clusters)
	}
	c.Message += r.doubts.deletedText()
	switch {
	case r.err != nil && r.lacksSeries():
		c.True, c.Reason, c.Message = false, reasonOf(r.err), r.cause
	case r.err != nil:
		c.True, c.Reason, c.Message = false, reasonOf(r.err), r.err.Error()
	case e.SampleTime.Sub(now) > t.Step:
		c.True, c.Reason = false, snapshot.ReasonClockBehind
		c.Message = fmt.Sprintf("the newest sample is %s ahead of the clock of Forewarm's machine: set that clock; "+
			"until the clock has caught up, Forewarm does not fetch new samples",
			e.SampleTime.Sub(now).Round(time.Second))
	case !r.stored:
		c.True, c.Reason, c.Message = false, snapshot.ReasonPending, "the source has not answered a query yet"
	}
	return c
}

// reasonOf returns the reason of a condition for an error.
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

// warmingMessage says until when a new Forecast is no better than the observed demand. It needs one season of history, and gaps delay that.
// For example, with 7 h of history, a season of 24 h and the newest sample at 12:00, the message says 05:00 of the next day at the
// earliest.
func (r *result) warmingMessage(e *snapshot.ForecastSnapshot) string {
	switch {
	case r.partial && r.wholeErr != nil:
		return fmt.Sprintf("the forecast uses only the newest %s of history, because Forewarm could not read the "+
			"rest yet: %s", humanize.Span(partialHistory), r.wholeErr)
	case r.partial:
		return "the forecast uses only the newest " + humanize.Span(
			partialHistory,
		) + " of history while Forewarm reads the rest"
	case r.span >= r.season:
		return fmt.Sprintf("Forewarm has %s of history, but the selected model has no score yet, or the demand of one "+
			"season ago is unknown; until then, the forecast is no better than the observed demand; %s",
			humanize.Span(r.span.Round(time.Minute)), e.ModelReason())
	}
	until := e.SampleTime.Add(r.season - r.span).Round(time.Minute).UTC().Format("2006-01-02 15:04 UTC")
	const words = "Forewarm has only %s of history and needs one season (%s); until %s at the earliest, the forecast is no better than " +
		"the observed demand; %s"
	return fmt.Sprintf(words, humanize.Span(r.span.Round(time.Minute)), humanize.Span(r.season.Round(time.Minute)),
		until, e.ModelReason())
}

// dataCondition is present while Forewarm drops or corrects samples.
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
		c.Message = fmt.Sprintf("since %s, the samples have been lower than before, and the source still adds to "+
			"samples of this age: until they are complete, Forewarm uses the demand that it observed before; if "+
			"the source always lags, set signal.delay", formatTime(r.classified.From))
	case r.isClassified && r.classified.Cause == demand.Outage:
		c.Reason = snapshot.ReasonOutageSuspected
		c.Message = fmt.Sprintf("at %s, the demand suddenly fell to almost 0, which looks like an outage: for %s, "+
			"Forewarm uses the demand from before the fall, and then halves it every %s; check the workload, its "+
			"scrape and the query; if the workload really has no demand, you do not need to do anything",
			formatTime(r.classified.From), humanize.Span(demand.OutageHold), humanize.Span(demand.OutageHalfLife))
	case r.suddenLow != "":
		c.Reason, c.Message = snapshot.ReasonSuddenLow, r.suddenLow
	case r.unit != nil:
		c.Reason, c.Message = snapshot.ReasonUnitChanged, unitMessage(r.unit)
	}
	return c
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

const (
	// flapTime is the time within which a problem that returns is flapping. Its condition stays until the problem has been over for calmTime. Other conditions
	// stay until their problem has been over for twice as long as it lasted, at most calmTime.
	flapTime = time.Hour
	calmTime = 30 * time.Minute
)

// problem has the last state of a problem that was reported.
type problem struct {
	condition snapshot.Condition
	// since and last are when the problem was first and last seen, and over is when its condition was last removed. flaps is true if the
	// problem is flapping.
	since, last, over time.Time
	said, flaps       bool
	// initial is true if the problem existed from the beginning and is not expected to return.
	initial bool
}

// steady keeps the conditions of flapping problems, so that the conditions do not flap as well.
func (w *worker) steady(conditions []snapshot.Condition, now time.Time) []snapshot.Condition {
	for _, kind := range []string{snapshot.ConditionSource, snapshot.ConditionData, snapshot.ConditionSignal} {
		at := slices.IndexFunc(conditions, func(c snapshot.Condition) bool { return c.Type == kind })
		p := w.problems[kind]
		switch bad := at >= 0 && !conditions[at].True; {
		case p == nil:
			w.problems[kind] = &problem{said: bad, initial: bad}
		case bad && p.said && conditions[at].Reason == snapshot.ReasonSuddenLow &&
			p.condition.Reason == snapshot.ReasonOutageSuspected && now.Sub(p.last) < p.lingers():
			p.last, conditions[at] = now, p.condition // An outage that returns begins as a sudden low.
		case bad:
			if !p.said {
				p.since, p.flaps = now, now.Sub(p.over) < flapTime
			}
			p.condition, p.last, p.said = conditions[at], now, true
		case !p.said:
		case now.Sub(p.last) < p.lingers():
			c := p.condition
			c.Message += "; this ended at " + formatTime(p.last)
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

// lingers returns how long the condition stays after the problem.
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
		Type:   snapshot.ConditionScaledToZero,
		True:   true,
		Reason: reasonNoReplicas,
		Message: t.Workload + " has been scaled to zero since " + formatTime(
			from,
		) + ": a step without a sample counts as a demand of 0",
	}
}
