package refresh

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/humanize"
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
func eventsCondition(e *snapshot.ForecastState) snapshot.Condition {
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

// shareOut shares the value of an entry out among its variants.
func shareOut(e *snapshot.ForecastState, t *Job) {
	if !e.State.Serves() || e.Plan == nil {
		return
	}
	e.Parts = e.Plan.Share(e.Decision.Value)
	if c := variantsCondition(e, t); c.Reason != "" {
		e.Conditions = append(e.Conditions, c)
	}
}

// variantsCondition is present while a variant does not hold what it would be asked for, or an autoscaler reads what is for all.
func variantsCondition(e *snapshot.ForecastState, t *Job) snapshot.Condition {
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

const (
	// targetRatio: a target is doubtful if what a replica sustains differs from it by this factor in each of targetIntervals judged
	// intervals. Smaller differences are for `forewarm capacity`: the load of replicas varies, and a signal may count what waits.
	targetRatio     = 3
	targetIntervals = 6
)

// load is what a ready replica carries, beside the autoscaler's target. An interval tells something if replicas were saturated in all
// of it, or in none of it and carried more than a third of the target: idle replicas tell nothing.
type load struct {
	// high and low count the intervals in a row that say that the target is too high or too low.
	high, low int
	// carried and target are those of the newest interval that told something.
	carried, target float64
}

// judge judges an interval by its mean demand per ready replica and the share of its steps that were saturated.
func (l *load) judge(carried, target, saturated float64) {
	switch {
	case saturated == 1 && carried*targetRatio < target:
		l.high, l.low = l.high+1, 0
	case saturated == 0 && carried > target*targetRatio:
		l.high, l.low = 0, l.low+1
	case saturated == 1, saturated == 0 && carried*targetRatio >= target:
		l.high, l.low = 0, 0
	default:
		return
	}
	l.carried, l.target = carried, target
}

// judgeLoad judges the load of the newest interval, where replicas and saturation are known.
func (w *worker) judgeLoad(end time.Time) {
	ready := w.ready
	w.ready = 0 // It is counted again each time.
	if !(ready > 0) || w.saturation == nil || len(w.job.Autoscalers) != 1 {
		return
	}
	read := w.store.Range(end.Add(-judgeInterval), end)
	sum, known, saturated := 0.0, 0.0, 0.0
	for i, v := range read.Values {
		if math.IsNaN(v) {
			continue
		}
		sum, known = sum+v, known+1
		if w.saturation.at(read.TimeAt(i)) {
			saturated++
		}
	}
	if known > 0 {
		w.result.load.judge(sum/known/ready, w.job.Autoscalers[0].Target(), saturated/known)
	}
}

// doubt is why the target is doubtful; empty if it is not.
func (l *load) doubt() (reason, message string) {
	switch {
	case l.high >= targetIntervals:
		return reasonTargetTooHigh, fmt.Sprintf("for %s replicas were saturated at a demand of %.4g each, and the "+
			"autoscaler's target is %.4g: forewarm capacity estimates what a replica sustains; or the query has another "+
			"unit, or the demand of one replica and not the total",
			humanize.Span(targetIntervals*judgeInterval), l.carried, l.target)
	case l.low >= targetIntervals:
		return reasonTargetTooLow, fmt.Sprintf("for %s replicas carried a demand of %.4g each and were not saturated, "+
			"and the autoscaler's target is %.4g: forewarm capacity estimates what a replica sustains; or the query has "+
			"another unit", humanize.Span(targetIntervals*judgeInterval), l.carried, l.target)
	}
	return "", ""
}
