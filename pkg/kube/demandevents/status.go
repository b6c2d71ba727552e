package demandevents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/run"
)

// The conditions of a DemandEvent and their reasons. docs/reference/conditions.md is generated from these comments.

// Conditions of a DemandEvent.
const (
	// conditionApplied is True while at least one Forecast uses the event.
	conditionApplied = "Applied"
	// conditionPlausible is present, and False, while the demand during the event did not match what the event expects, or the event has no
	// effect on some Forecasts.
	conditionPlausible = "Plausible"
)

// Reasons of the condition Applied.
const (
	// reasonApplied (True): Forecasts use the event. The message lists them.
	reasonApplied = "Applied"
	// reasonInvalid (False): a field is invalid, so no Forecast uses the event.
	//
	// Fix: correct the field as the message says.
	reasonInvalid = "Invalid"
	// reasonNoForecast (False): the namespace has no valid Forecast to which the event applies.
	//
	// Fix: correct spec.forecasts, or create the Forecast.
	reasonNoForecast = "NoForecast"
	// reasonTooMany (False): the Forecasts already use 64 older events each, or the namespace has 500 older events.
	//
	// Fix: delete events that are over, or combine events of the same name into one with several times in alsoOn.
	reasonTooMany = "TooMany"
)

// Reasons of the condition Plausible.
const (
	// reasonNoEffect (False): the last two occurrences of the event had less than a quarter of the expected effect.
	//
	// Fix: correct the event, or delete it.
	reasonNoEffect = "NoEffect"
	// reasonNoTarget (False): the event asks for replicas, but Forewarm does not know what one replica of some workloads sustains. The event
	// has no effect on them.
	//
	// Fix: let a HorizontalPodAutoscaler or a ScaledObject read the Forecasts in the message, or set their spec.scaling.target.
	reasonNoTarget = "TargetUnknown"
)

const (
	// interval is how often statuses are compared.
	interval = 10 * time.Second
	// writesPerSecond and burst bound all writes together.
	writesPerSecond = 5
	burst           = 50
	// ahead is how far ahead the next occurrence is searched for.
	ahead = 14 * 24 * time.Hour
)

// StatusWriter writes the statuses. Only the leader may run it.
type StatusWriter struct {
	watch     *Watch
	forecasts refresh.Jobs
	snapshots *snapshot.Store
	queue     *writes.Queue
}

// NewStatusWriter returns a writer for the events of a watch.
func NewStatusWriter(watch *Watch, forecasts refresh.Jobs, snapshots *snapshot.Store) *StatusWriter {
	return &StatusWriter{
		watch: watch, forecasts: forecasts, snapshots: snapshots,
		queue: writes.NewQueue(v1alpha1.DemandEventKind, writesPerSecond, burst, watch.log),
	}
}

// SetEvents sets where it is said that a status is refused. Call it before Run.
func (w *StatusWriter) SetEvents(events writes.Events) { w.queue.SetEvents(events) }

// Refused has the metric of the objects whose status is refused.
func (w *StatusWriter) Refused() *writes.Queue { return w.queue }

// Run writes until the context ends.
func (w *StatusWriter) Run(ctx context.Context, clock run.Clock) {
	defer w.queue.Reset()
	changes.Repeat(ctx, clock, interval, func(now time.Time) error { return w.Step(ctx, now) }, func(err error) {
		w.watch.log.WarnContext(ctx, "cannot write the status of DemandEvents, retrying", "error", err)
	})
}

// Step writes the statuses that have changed, as far as the rate allows. The error is one that affects every write; the rest is retried
// at the next step.
func (w *StatusWriter) Step(ctx context.Context, now time.Time) error {
	jobs := map[string][]refresh.Job{}
	for _, job := range w.forecasts.List(now) {
		if job.Invalid == "" {
			jobs[job.Key.Namespace] = append(jobs[job.Key.Namespace], job)
		}
	}
	var due []writes.Write
	exists := map[types.UID]bool{}
	for _, o := range w.watch.List() {
		exists[o.GetUID()] = true
		var before v1alpha1.DemandEventStatus
		v1alpha1.ReadStatus(o.Unstructured, &before)
		after := w.statusOf(o, jobs[o.GetNamespace()], &before, now)
		if !equality.Semantic.DeepEqual(before, after) {
			due = append(due, writes.Write{Object: o.Unstructured, Do: func(ctx context.Context) error {
				_, err := writes.UpdateStatus(ctx, w.watch.client, o.Unstructured, &after)
				return err
			}})
		}
	}
	w.queue.Keep(exists)
	_, err := w.queue.Step(ctx, now, due)
	return err
}

// statusOf returns the status of an event. It depends on the Forecasts of the namespace.
func (w *StatusWriter) statusOf(
	o *object, jobs []refresh.Job, before *v1alpha1.DemandEventStatus, now time.Time,
) v1alpha1.DemandEventStatus {
	status := v1alpha1.DemandEventStatus{ObservedGeneration: o.GetGeneration()}
	var have, all, failed, unknown []string
	for i := range jobs {
		if o.problem != "" || !o.isOf(jobs[i].Key.Name) {
			continue
		}
		all = append(all, jobs[i].Key.Name)
		same := func(e calendar.Event) bool { return e.Name == o.GetName() }
		if !slices.ContainsFunc(jobs[i].Events, same) {
			continue
		}
		have = append(have, jobs[i].Key.Name)
		if w.failed(jobs[i].Key, o.GetName()) {
			failed = append(failed, jobs[i].Key.Name)
		}
		if n := o.event.Replicas; n > 0 && decide.ValueOf(jobs[i].Autoscalers, n) == 0 {
			unknown = append(unknown, jobs[i].Key.Name)
		}
	}
	status.Forecasts = int32(len(have)) //nolint:gosec // Bounded by the Forecasts of a namespace.
	add := func(kind, reason, message string, is metav1.ConditionStatus) {
		v1alpha1.AddCondition(&status.Conditions, metav1.Condition{
			Type: kind, Status: is, Reason: reason, Message: message, ObservedGeneration: o.GetGeneration(),
		}, before.Conditions, now)
	}
	applied := func(reason, message string) {
		add(conditionApplied, reason, message, metav1.ConditionFalse)
	}
	switch {
	case o.problem != "":
		applied(o.reason, o.problem)
	case len(all) == 0:
		applied(reasonNoForecast, "the event applies to no valid Forecast of the namespace: correct spec.forecasts, "+
			"or create a Forecast")
	case len(have) == 0:
		applied(reasonTooMany, fmt.Sprintf("the Forecasts already have %d older events, which is the limit: delete "+
			"events that are over, or combine events of the same name into one with several times in alsoOn", manifest.MaxEvents))
	default:
		add(conditionApplied, reasonApplied, "used by "+writes.FirstOf(have), metav1.ConditionTrue)
	}
	if len(failed) > 0 {
		text := "the last two occurrences had no effect on the demand of " + writes.FirstOf(failed)
		add(conditionPlausible, reasonNoEffect, text+": correct the event, or delete it", metav1.ConditionFalse)
	}
	if len(unknown) > 0 {
		const text = "what one replica sustains is not known, so the event has no effect on %s: let an HPA or a " +
			"ScaledObject read these Forecasts, or set spec.scaling.target"
		add(conditionPlausible, reasonNoTarget, fmt.Sprintf(text, writes.FirstOf(unknown)), metav1.ConditionFalse)
	}
	if o.spec != nil {
		add(o.spec.Type, o.spec.Reason, o.spec.Message, o.spec.Status)
	}
	if o.problem == "" {
		status.Next = next(o.event.Event, now)
	}
	return status
}

// next returns when an event begins next, or nil if it does not begin soon.
func next(e calendar.Event, now time.Time) *metav1.Time {
	for _, one := range calendar.Of([]calendar.Event{e})(now, now.Add(ahead)) {
		if one.Start.After(now) {
			return &metav1.Time{Time: one.Start}
		}
	}
	return nil
}

// failed reports whether the last two occurrences of an event had no effect on a Forecast.
func (w *StatusWriter) failed(key snapshot.Key, name string) bool {
	newest := w.snapshots.Load()
	if newest == nil {
		return false
	}
	entry := newest.Get(key)
	return entry != nil &&
		slices.ContainsFunc(entry.Events, func(e event.Announcement) bool { return e.Name == name && e.Failed() })
}
