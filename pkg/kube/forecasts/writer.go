package forecasts

import (
	"context"
	"log/slog"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/run"
)

// Write intervals. Numbers change with every sample and are written once a minute. With a thousand Forecasts, each is written once in 100
// s. Changed conditions are written first.
const (
	// stepInterval is how often Run reads the snapshot.
	stepInterval = 2 * time.Second
	// writesPerSecond and burst bound all writes together.
	writesPerSecond = 10
	burst           = 50
	// routineInterval and urgentInterval are the minimum intervals between two writes of one Forecast.
	routineInterval = time.Minute
	urgentInterval  = 5 * time.Second
)

// StatusWriter writes the newest snapshot into the statuses. Only the leader may run it.
type StatusWriter struct {
	objects   *Objects
	snapshots *snapshot.Store
	log       *slog.Logger
	queue     *writes.Queue
	common    func() []snapshot.Condition
	events    writes.Events
}

// NewStatusWriter returns a writer for the objects of a watch.
func NewStatusWriter(objects *Objects, snapshots *snapshot.Store, log *slog.Logger) *StatusWriter {
	return &StatusWriter{
		objects: objects, snapshots: snapshots, log: log,
		queue:  writes.NewQueue(v1alpha1.ForecastKind, writesPerSecond, burst, log),
		common: func() []snapshot.Condition { return nil },
	}
}

// SetCommonConditions sets a function that returns conditions common to all Forecasts. It is called at each step.
func (w *StatusWriter) SetCommonConditions(common func() []snapshot.Condition) { w.common = common }

// SetEvents sets where changes of objectives are sent as events, and that a status is refused. Call it before Run.
func (w *StatusWriter) SetEvents(events writes.Events) {
	w.events = events
	w.queue.SetEvents(events)
}

// Refused has the metric of the objects whose status is refused.
func (w *StatusWriter) Refused() *writes.Queue { return w.queue }

// Run writes until the context ends. It compares with the status in the cluster, also with one that another replica
// wrote.
func (w *StatusWriter) Run(ctx context.Context, clock run.Clock) {
	defer w.queue.Reset()
	changes.Repeat(ctx, clock, stepInterval, func(now time.Time) error {
		_, err := w.Step(ctx, now)
		return err
	}, func(err error) {
		w.log.WarnContext(ctx, "cannot write the status of Forecasts, retrying", "error", err)
	})
}

// Step writes what is due, as far as the rate allows. It returns how many it wrote. The error is one that affects every write; the rest
// is retried at the next step.
func (w *StatusWriter) Step(ctx context.Context, now time.Time) (int, error) {
	var all []writes.Write
	for _, d := range w.due(now) {
		all = append(all, writes.Write{
			Object: d.object,
			Urgent: d.urgency == writes.Urgent,
			Do:     func(ctx context.Context) error { return w.write(ctx, d) },
		})
	}
	return w.queue.Step(ctx, now, all)
}

// draft is a status to write.
type draft struct {
	object  *unstructured.Unstructured
	status  v1alpha1.ForecastStatus
	urgency writes.Urgency
	// changes are emitted as events after the status is written.
	changes []objective.Change
}

// due returns the statuses to write.
func (w *StatusWriter) due(now time.Time) []draft {
	newest := w.snapshots.Load()
	if newest == nil {
		return nil
	}
	var drafts []draft
	common := w.common()
	exists := map[types.UID]bool{}
	for _, object := range w.objects.watch.List() {
		exists[object.GetUID()] = true
		entry := newest.Get(keyOf(object))
		if entry == nil || entry.Generation != object.GetGeneration() {
			// The loop has not yet processed this object or its newest spec.
			continue
		}
		var before v1alpha1.ForecastStatus
		v1alpha1.ReadStatus(object.Unstructured, &before)
		if entry.Partial && entry.PartialError == nil && before.ObservedGeneration == entry.Generation {
			continue // Just after a start, an entry contains less than the status that was written before.
		}
		d := draft{
			object: object.Unstructured,
			status: statusOf(withConditions(entry, common, object.spec), &before, newest.Time),
		}
		w.objects.recordStarts(d.object, &d.status, now)
		w.objects.recordScaledToZero(d.object, &d.status, now)
		d.urgency, d.changes = urgencyOf(&before, &d.status), changesSince(entry, &before)
		interval := routineInterval
		if d.urgency == writes.Urgent {
			interval = urgentInterval
		}
		last := w.queue.Tried(object, now)
		if d.urgency == writes.Unchanged || !last.IsZero() && now.Sub(last) < interval {
			continue
		}
		drafts = append(drafts, d)
	}
	w.queue.Keep(exists)
	return drafts
}

// withConditions returns an entry with the conditions that all entries share, and with the condition about the object's spec, if there is
// one.
func withConditions(
	e *snapshot.ForecastSnapshot, common []snapshot.Condition, spec *metav1.Condition,
) *snapshot.ForecastSnapshot {
	out := *e
	out.Conditions = slices.Concat(e.Conditions, common)
	if spec != nil {
		out.Conditions = append(out.Conditions,
			snapshot.Condition{Type: spec.Type, Reason: spec.Reason, Message: spec.Message})
	}
	return &out
}

// write replaces the status of the object, and emits events about the changes.
func (w *StatusWriter) write(ctx context.Context, d draft) error {
	written, err := writes.UpdateStatus(ctx, w.objects.client, d.object, &d.status)
	if err != nil {
		return err
	}
	if d.status.Starts != nil || d.status.ScaledToZero != nil {
		var kept v1alpha1.ForecastStatus
		v1alpha1.ReadStatus(written, &kept)
		same := equality.Semantic.DeepEqual(kept.Starts, d.status.Starts) &&
			equality.Semantic.DeepEqual(kept.ScaledToZero, d.status.ScaledToZero)
		w.objects.fieldsDropped.Store(!same)
	}
	for _, c := range d.changes {
		kind := core.EventTypeNormal
		if c.Missed {
			kind = core.EventTypeWarning
		}
		if w.events != nil {
			w.events.Event(d.object, kind, c.Reason, v1alpha1.ClipEvent(c.Message))
		}
	}
	return nil
}
