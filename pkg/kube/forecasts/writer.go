package forecasts

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/informer"
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
	// writeTimeout bounds one write.
	writeTimeout = 10 * time.Second
)

// StatusWriter writes the newest snapshot into the statuses. Only the leader may run it.
type StatusWriter struct {
	objects   *Objects
	snapshots *snapshot.Store
	log       *slog.Logger
	limiter   *rate.Limiter
	written   map[types.UID]time.Time
	common    func() []snapshot.Condition
	events    Events
}

// Events receives events about Forecasts; a record.EventRecorder implements it.
type Events interface {
	Event(about runtime.Object, kind, reason, message string)
}

// NewStatusWriter returns a writer for the objects of a watch.
func NewStatusWriter(objects *Objects, snapshots *snapshot.Store, log *slog.Logger) *StatusWriter {
	return &StatusWriter{
		objects: objects, snapshots: snapshots, log: log,
		limiter: rate.NewLimiter(writesPerSecond, burst), written: map[types.UID]time.Time{},
		common: func() []snapshot.Condition { return nil },
	}
}

// SetCommonConditions sets a function that returns conditions common to all Forecasts. It is called at each step.
func (w *StatusWriter) SetCommonConditions(common func() []snapshot.Condition) { w.common = common }

// SetEvents sets where changes of objectives are sent as events. Call it before Run.
func (w *StatusWriter) SetEvents(events Events) { w.events = events }

// Run writes until the context ends. It compares with the status in the cluster, also with one that another replica
// wrote.
func (w *StatusWriter) Run(ctx context.Context, clock changes.Clock) {
	before := ""
	for {
		_, err := w.Step(ctx, clock.Now())
		text := fmt.Sprint(err)
		if err != nil && text != before && ctx.Err() == nil {
			w.log.WarnContext(ctx, "cannot write statuses, retrying", "error", err)
		}
		before = text
		if err := clock.WaitUntil(ctx, clock.Now().Add(stepInterval)); err != nil {
			return
		}
	}
}

// Step writes what is due, urgent changes first, then what waited longest, as far as the rate allows. It returns how
// many it wrote. The error is one that affects every write; the rest is retried at the next step.
func (w *StatusWriter) Step(ctx context.Context, now time.Time) (int, error) {
	written := 0
	for _, d := range w.due(now) {
		if !w.limiter.AllowN(now, 1) {
			return written, nil
		}
		w.written[d.object.GetUID()] = now
		err := w.write(ctx, d)
		switch {
		case err == nil:
			written++
			w.emitEvents(d)
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			// The object changed or was deleted since it was read. The next step reads it again.
		case apierrors.IsInvalid(err):
			w.log.WarnContext(ctx, "the API server rejected a status",
				"forecast", keyOf(d.object).String(), "error", err)
		default:
			return written, fmt.Errorf("write the status of %s: %w", keyOf(d.object), err)
		}
	}
	return written, nil
}

// draft is a status to write.
type draft struct {
	object  *unstructured.Unstructured
	status  v1alpha1.ForecastStatus
	urgency urgency
	written time.Time
	// changes are emitted as events once it is written.
	changes []objective.Change
}

// due returns the statuses to write, in their order.
func (w *StatusWriter) due(now time.Time) []draft {
	newest := w.snapshots.Load()
	if newest == nil {
		return nil
	}
	var drafts []draft
	common := w.common()
	tried := make(map[types.UID]time.Time, len(w.written))
	for _, object := range w.objects.watch.List() {
		last, again := w.written[object.GetUID()]
		if again {
			tried[object.GetUID()] = last
		}
		entry := newest.Get(keyOf(object))
		if entry == nil || entry.Generation != object.GetGeneration() {
			// The loop has not processed this object or its newest spec yet.
			continue
		}
		var before v1alpha1.ForecastStatus
		v1alpha1.ReadStatus(object, &before)
		if entry.Partial && entry.PartialError == nil && before.ObservedGeneration == entry.Generation {
			continue // What is known after a start says less than what was written before it.
		}
		d := draft{object: object, status: statusOf(withConditions(entry, common), &before, newest.Time), written: last}
		w.objects.recordStarts(object, &d.status, now)
		w.objects.recordScaledToZero(object, &d.status, now)
		d.urgency, d.changes = urgencyOf(&before, &d.status), changesSince(entry, &before)
		// A write in the future is left from a clock that was set back.
		if d.urgency == unchanged || again && !last.After(now) && now.Sub(last) < d.urgency.interval() {
			continue
		}
		drafts = append(drafts, d)
	}
	w.written = tried
	slices.SortStableFunc(drafts, func(a, b draft) int {
		return cmp.Or(cmp.Compare(b.urgency, a.urgency), a.written.Compare(b.written))
	})
	return drafts
}

// withConditions returns an entry with further conditions.
func withConditions(e *snapshot.ForecastState, common []snapshot.Condition) *snapshot.ForecastState {
	out := *e
	out.Conditions = slices.Concat(e.Conditions, common)
	return &out
}

func (n urgency) interval() time.Duration {
	if n == urgent {
		return urgentInterval
	}
	return routineInterval
}

// write replaces the status of the object. The API server rejects it if the object has changed since it was read, and
// so the write of a previous leader.
func (w *StatusWriter) write(ctx context.Context, d draft) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d.status)
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	object := informer.WithStatus(d.object, content)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	written, err := w.objects.client.Namespace(object.GetNamespace()).UpdateStatus(ctx, object, metav1.UpdateOptions{
		FieldManager: "forewarm",
	})
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
	return nil
}
