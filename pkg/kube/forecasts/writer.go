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

// The intervals of writing. Numbers change with every sample, and are written once a minute, those of a thousand
// Forecasts once in 100 s. Changed conditions go first.
const (
	// stepInterval is how often Run reads the snapshot.
	stepInterval = 2 * time.Second
	// writesPerSecond and burst bound all writes together.
	writesPerSecond = 10
	burst           = 50
	// routineInterval and urgentInterval are the least intervals between two writes of one Forecast.
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
	// changes are emitted as events once it is written.
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
			// The loop has not processed this object or its newest spec yet.
			continue
		}
		var before v1alpha1.ForecastStatus
		v1alpha1.ReadStatus(object.Unstructured, &before)
		if entry.Partial && entry.PartialError == nil && before.ObservedGeneration == entry.Generation {
			continue // What is known after a start says less than what was written before it.
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

// withConditions returns an entry with those that are common to all, and the one of its spec, if any.
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

// write replaces the status of the object, and emits what changed.
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
