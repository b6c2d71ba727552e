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
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// The pace of writing. Numbers move with every sample, and are written once a minute, those of a thousand Forecasts once in
// 100 s; a condition that changes goes first.
const (
	// pace is how often Run looks at the snapshot.
	pace = 2 * time.Second
	// writesPerSecond bounds all writes together; burst is what may go at once after a rest.
	writesPerSecond = 10
	burst           = 50
	// gap and urgentGap are the least times between two writes of one Forecast.
	gap       = time.Minute
	urgentGap = 5 * time.Second
	// patience with one write.
	patience = 10 * time.Second
)

// StatusWriter writes the newest snapshot into the status of the objects. Only the leader may run it.
type StatusWriter struct {
	objects *Objects
	board   *snapshot.Board
	log     *slog.Logger
	limiter *rate.Limiter
	tried   map[types.UID]time.Time
	common  func() []snapshot.Condition
	events  Events
}

// Events are where a writer tells what has changed, as an event about a Forecast; a record.EventRecorder is one.
type Events interface {
	Event(about runtime.Object, kind, reason, message string)
}

// NewStatusWriter makes a writer for the objects that a watch sees.
func NewStatusWriter(objects *Objects, board *snapshot.Board, log *slog.Logger) *StatusWriter {
	return &StatusWriter{
		objects: objects, board: board, log: log,
		limiter: rate.NewLimiter(writesPerSecond, burst), tried: map[types.UID]time.Time{},
		common: func() []snapshot.Condition { return nil },
	}
}

// Add gives every Forecast conditions that hold for all of them, from a function that is asked at each step.
func (w *StatusWriter) Add(common func() []snapshot.Condition) { w.common = common }

// Tell has what changes about an objective told as events, too. It is not to be called while the writer runs.
func (w *StatusWriter) Tell(events Events) { w.events = events }

// Run writes until the context ends. What another replica wrote is taken as it stands: what is compared is the status in
// the cluster.
func (w *StatusWriter) Run(ctx context.Context, clock refresh.Clock) {
	before := ""
	for {
		_, err := w.Step(ctx, clock.Now())
		text := fmt.Sprint(err)
		if err != nil && text != before && ctx.Err() == nil {
			w.log.WarnContext(ctx, "statuses cannot be written, trying again", "error", err)
		}
		before = text
		if err := clock.WaitUntil(ctx, clock.Now().Add(pace)); err != nil {
			return
		}
	}
}

// Step writes what is due at a time, the urgent first and then what waited longest, as far as the rate allows. It says
// how many it wrote. The error is one that would meet every write; the rest is tried at the next step.
func (w *StatusWriter) Step(ctx context.Context, now time.Time) (int, error) {
	written := 0
	for _, d := range w.due(now) {
		if !w.limiter.AllowN(now, 1) {
			return written, nil
		}
		w.tried[d.object.GetUID()] = now
		err := w.write(ctx, d)
		switch {
		case err == nil:
			written++
			w.tell(d)
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			// The object changed or went since the watch saw it; the next step sees it as it is.
		case apierrors.IsInvalid(err):
			w.log.WarnContext(ctx, "the API server refuses a status",
				"forecast", keyOf(d.object).String(), "error", err)
		default:
			return written, fmt.Errorf("write the status of %s: %w", keyOf(d.object), err)
		}
	}
	return written, nil
}

// draft is a status that is to be written.
type draft struct {
	object *unstructured.Unstructured
	status v1alpha1.ForecastStatus
	news   news
	tried  time.Time
	// changes are what is to be told once it is written.
	changes []outcome.Change
}

// due are the statuses to write at a time, in their order.
func (w *StatusWriter) due(now time.Time) []draft {
	newest := w.board.Load()
	if newest == nil {
		return nil
	}
	var drafts []draft
	common := w.common()
	tried := make(map[types.UID]time.Time, len(w.tried))
	for _, object := range w.objects.list() {
		last, again := w.tried[object.GetUID()]
		if again {
			tried[object.GetUID()] = last
		}
		entry := newest.Get(keyOf(object))
		if entry == nil || entry.Generation != object.GetGeneration() {
			// The loop has not come to this object, or to its newest spec.
			continue
		}
		var before v1alpha1.ForecastStatus
		v1alpha1.ReadStatus(object, &before)
		d := draft{object: object, status: statusOf(with(entry, common), &before, newest.Time), tried: last}
		w.objects.count(object, &d.status, now)
		w.objects.look(object, &d.status, now)
		d.news, d.changes = compare(&before, &d.status), changes(entry, &before)
		// A write of a time to come is that of a clock that was set back.
		if d.news == silent || again && !last.After(now) && now.Sub(last) < d.news.gap() {
			continue
		}
		drafts = append(drafts, d)
	}
	w.tried = tried
	slices.SortStableFunc(drafts, func(a, b draft) int {
		return cmp.Or(cmp.Compare(b.news, a.news), a.tried.Compare(b.tried))
	})
	return drafts
}

// with is an entry that has further conditions.
func with(e *snapshot.Entry, common []snapshot.Condition) *snapshot.Entry {
	out := *e
	out.Conditions = slices.Concat(e.Conditions, common)
	return &out
}

func (n news) gap() time.Duration {
	if n == urgent {
		return urgentGap
	}
	return gap
}

// write replaces the status of the object as the watch saw it: where it has changed since, the API server refuses, and so
// it does for a leader of the past.
func (w *StatusWriter) write(ctx context.Context, d draft) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d.status)
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	object := d.object.DeepCopy()
	object.Object["status"] = content
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	written, err := w.objects.client.Namespace(object.GetNamespace()).UpdateStatus(ctx, object, metav1.UpdateOptions{
		FieldManager: "forewarm",
	})
	if err != nil {
		return err
	}
	if d.status.Starts != nil || d.status.AtZero != nil {
		var kept v1alpha1.ForecastStatus
		v1alpha1.ReadStatus(written, &kept)
		same := equality.Semantic.DeepEqual(kept.Starts, d.status.Starts) &&
			equality.Semantic.DeepEqual(kept.AtZero, d.status.AtZero)
		w.objects.forgetful.Store(!same)
	}
	return nil
}
