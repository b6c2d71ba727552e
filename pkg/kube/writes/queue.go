package writes

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

const (
	// minPause and maxPause are the first and the longest pause after a write of an object is rejected. Each pause is twice as long as the
	// previous one.
	minPause, maxPause = 10 * time.Second, 5 * time.Minute
	// writeTimeout limits one write. slowTimeout applies instead in a namespace in which a write was slow.
	writeTimeout, slowTimeout = 5 * time.Second, 3 * time.Second
	// slowWrite is how long a write takes before it counts as slow, for example because a webhook does not answer. The namespace then comes
	// last for the duration of maxPause.
	slowWrite = time.Second
	// stepTimeout is the time after which a step begins no further write.
	stepTimeout = 3 * time.Second
	// reasonRefused is the reason of the event about an object whose write was rejected.
	reasonRefused = "StatusNotWritten"
)

// Object is what is written to.
type Object interface {
	metav1.Object
	runtime.Object
}

// Events receives events about objects; a record.EventRecorder implements it.
type Events interface {
	Event(about runtime.Object, kind, reason, message string)
}

// Write is a write that is due.
type Write struct {
	Object Object
	Urgent bool
	Do     func(ctx context.Context) error
}

// Queue makes writes to the objects of one kind. Its methods except Collect are not safe for concurrent use.
type Queue struct {
	kind   string
	log    *slog.Logger
	events Events
	// limiter limits all writes. lines limits the log lines and events about rejected writes.
	limiter, lines *rate.Limiter
	// slow has the time of the last slow write of each namespace. usage has the number of its recent writes.
	slow  map[string]time.Time
	usage map[string]usage
	desc  *prometheus.Desc

	mu      sync.Mutex // Protects the data for Collect.
	objects map[types.UID]*record
}

// record has what is known about the writes of an object.
type record struct {
	namespace string
	tried     time.Time
	// version is the version of the object when a write was rejected or was stale. There is no further write before until. failures counts
	// failures in a row.
	version  string
	until    time.Time
	failures int
	refused  bool
	// cause is the cause that was logged last.
	cause string
}

// NewQueue returns a queue for the objects of a kind.
func NewQueue(kind string, perSecond rate.Limit, burst int, log *slog.Logger) *Queue {
	const linesEvery, firstLines = 10 * time.Second, 10
	return &Queue{
		kind: kind, log: log, limiter: rate.NewLimiter(perSecond, burst),
		lines: rate.NewLimiter(rate.Every(linesEvery), firstLines),
		slow:  map[string]time.Time{}, usage: map[string]usage{}, objects: map[types.UID]*record{}, desc: newDesc(kind),
	}
}

// SetEvents sets where the owners of refused objects learn of it. Call it before the first step.
func (q *Queue) SetEvents(events Events) { q.events = events }

// Tried returns when a write to an object was last tried; zero if it was not. A time in the future is left from a clock that was set
// back, and counts as none.
func (q *Queue) Tried(object metav1.Object, now time.Time) time.Time {
	if r := q.objects[object.GetUID()]; r != nil && !r.tried.After(now) {
		return r.tried
	}
	return time.Time{}
}

// Keep forgets all objects but those that exist.
func (q *Queue) Keep(exists map[types.UID]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespaces := map[string]bool{}
	for uid, r := range q.objects {
		if exists[uid] {
			namespaces[r.namespace] = true
		} else {
			delete(q.objects, uid)
		}
	}
	maps.DeleteFunc(q.usage, func(namespace string, _ usage) bool { return !namespaces[namespace] })
}

// Reset forgets everything: another replica may have led meanwhile.
func (q *Queue) Reset() {
	q.Keep(nil)
	clear(q.slow)
}

// Step makes the writes in their order, see Sort, as far as the rate allows, and returns how many succeeded. What is left is due at the
// next step. The error is one that affects every write.
func (q *Queue) Step(ctx context.Context, now time.Time, due []Write) (int, error) {
	var ready []Write
	for _, w := range due {
		if !q.pauses(w.Object, now) {
			ready = append(ready, w)
		}
	}
	Sort(q, now, ready, func(w Write) (metav1.Object, bool) { return w.Object, w.Urgent })
	written, elapsed := 0, Stopwatch()
	for _, w := range ready {
		if elapsed() > stepTimeout || !q.limiter.AllowN(now, 1) {
			break
		}
		done, err := q.do(ctx, now, w)
		if err != nil {
			return written, fmt.Errorf("write the status of %s %s/%s: %w", q.kind, w.Object.GetNamespace(),
				w.Object.GetName(), err)
		}
		if done {
			written++
		}
	}
	return written, nil
}

// Stopwatch returns a function that returns how much time has passed since.
func Stopwatch() func() time.Duration {
	started := time.Now()                                      //nolint:forbidigo // A duration, whatever the clock says.
	return func() time.Duration { return time.Since(started) } //nolint:forbidigo // See above.
}

// pauses reports whether it is too early for another write of an object. If the object has changed, the pause ends, because the change may
// have corrected the problem.
func (q *Queue) pauses(object metav1.Object, now time.Time) bool {
	r := q.objects[object.GetUID()]
	return r != nil && now.Before(r.until) && r.until.Sub(now) <= maxPause && r.version == object.GetResourceVersion()
}

// do makes a write, and reports whether it succeeded. It returns only errors that would affect every write.
func (q *Queue) do(ctx context.Context, now time.Time, w Write) (bool, error) {
	elapsed, timeout := Stopwatch(), writeTimeout
	if q.IsSlow(w.Object, now) {
		timeout = slowTimeout
	}
	namespace := w.Object.GetNamespace()
	q.usage[namespace] = usage{q.usage[namespace].at(now) + 1, now}
	own, cancel := context.WithTimeout(ctx, timeout)
	err := w.Do(own)
	cancel()
	if elapsed() > slowWrite {
		q.MarkSlow(namespace, now)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	q.note(ctx, w.Object, now, err)
	if err != nil && Unavailable(err) {
		return false, err
	}
	return err == nil, nil
}

// note records the outcome of a write.
func (q *Queue) note(ctx context.Context, object Object, now time.Time, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.objects[object.GetUID()]
	if r == nil || err == nil {
		r = &record{namespace: object.GetNamespace()}
		q.objects[object.GetUID()] = r
	}
	r.tried = now
	if err == nil {
		return
	}
	r.version, r.until = object.GetResourceVersion(), now.Add(minPause)
	if Unavailable(err) {
		return
	}
	r.until = now.Add(min(minPause<<min(r.failures, 8), maxPause))
	r.failures++
	if IsStale(err) {
		return
	}
	r.refused = true
	q.tell(ctx, r, object, now, err)
}

// tell logs once why the write of an object was rejected, and emits an event. If the rate limit does not allow that now, a later attempt
// does it.
func (q *Queue) tell(ctx context.Context, r *record, object Object, now time.Time, err error) {
	cause := cmp.Or(string(apierrors.ReasonForError(err)), err.Error())
	if cause == r.cause || !q.lines.AllowN(now, 1) {
		return
	}
	r.cause = cause
	q.log.WarnContext(ctx,
		"the API server refuses the status of an object, and Forewarm tries again after pauses of up to "+
			"five minutes: correct the object, or the policy that refuses it",
		"kind", q.kind, "object", object.GetNamespace()+"/"+object.GetName(), "error", err)
	if q.events != nil {
		q.events.Event(object, corev1.EventTypeWarning, reasonRefused,
			v1alpha1.ClipEvent("the API server refuses the new status, so the status is outdated: "+err.Error()))
	}
}

var _ prometheus.Collector = (*Queue)(nil)

// newDesc describes the metric of a kind. Each kind has its own description, so that all of them can be registered.
func newDesc(kind string) *prometheus.Desc {
	return prometheus.NewDesc(
		"forewarm_status_refused_objects",
		"Objects whose status the API server refused at the last attempt, because the object is too large or an admission policy refuses "+
			"it. Only the leader has this metric. Absent for namespaces without such objects.",
		[]string{"namespace"},
		prometheus.Labels{"kind": kind},
	)
}

// Describe implements prometheus.Collector.
func (q *Queue) Describe(out chan<- *prometheus.Desc) { out <- q.desc }

// Collect sends the number of refused objects of each namespace that has any.
func (q *Queue) Collect(out chan<- prometheus.Metric) {
	counts := map[string]int{}
	q.mu.Lock()
	for _, r := range q.objects {
		if r.refused {
			counts[r.namespace]++
		}
	}
	q.mu.Unlock()
	for namespace, n := range counts {
		out <- prometheus.MustNewConstMetric(q.desc, prometheus.GaugeValue, float64(n), namespace)
	}
}
