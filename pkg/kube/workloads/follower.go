package workloads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// follower follows the pods of one workload, or only its scale.
type follower struct {
	watch    *Watch
	workload leadtime.Workload
	// pods watches the pods of the namespace; nil if they are not watched.
	pods *namespace

	mu sync.Mutex
	// selector is the selector of the scale; nil while it is unknown. err says why, if there was an error.
	selector labels.Selector
	err      *informer.ReadError
	firsts   leadtime.PodTracker
	recent   leadtime.RecentStarts
	// living has the pods that have not ended and are not terminating, by UID.
	living map[string]podState
	// terminating has the pods that are terminating on a node, by UID.
	terminating map[string]bool
	// replicas is the number of replicas when the scale was last read. scaleRead is true if the scale was read after the last living pod was
	// deleted.
	replicas  int64
	scaleRead bool
	// scaleLost is true if the last attempt to read the scale failed.
	scaleLost bool
}

func newFollower(w *Watch, workload leadtime.Workload, pods *namespace) *follower {
	f := &follower{
		watch: w, workload: workload, pods: pods, firsts: leadtime.PodTracker{}, living: map[string]podState{},
		terminating: map[string]bool{},
	}
	if pods != nil {
		pods.add(f)
	}
	return f
}

// known reports whether all pods of the workload are known. The caller holds the lock.
func (f *follower) known() bool {
	return f.selector != nil && f.pods != nil && f.pods.Listed()
}

func (f *follower) starts() []leadtime.Start {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recent.List()
}

func (f *follower) problem() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.known():
		return ""
	case f.err != nil:
		return f.err.Text
	case f.pods == nil:
		return fmt.Sprintf(
			"Forewarm does not watch the pods of this namespace, because it watches at most %d namespaces",
			f.watch.config.MaxNamespaces,
		)
	}
	if problem := f.pods.Problem(); problem != nil {
		return problem.Text
	}
	return Listing
}

// scaledToZero reports whether the workload is scaled to zero; known is false while that is unknown.
func (f *follower) scaledToZero() (zero, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods != nil && !f.known() || len(f.living) == 0 && (!f.scaleRead || f.scaleLost) {
		return false, false
	}
	return len(f.living) == 0 && f.replicas == 0, true
}

// countReplicas counts the living pods; known is false while they are not listed.
func (f *follower) countReplicas() (out Replicas, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known() {
		return Replicas{}, false
	}
	out.Wanted, out.Living, out.Terminating = int(f.replicas), len(f.living), len(f.terminating)
	for _, p := range f.living {
		if p.placed {
			out.Placed++
		}
		if p.ready {
			out.Ready++
		}
	}
	return out, true
}

func (f *follower) uids() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Keys(f.living)), maps.Keys(f.terminating))
}

// unplacedSince counts the living pods without a node that were created at a given time or before.
func (f *follower) unplacedSince(at time.Time) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.living {
		if !p.placed && !p.created.After(at) {
			n++
		}
	}
	return n
}

// starting reports whether a living pod was created after a given time and is not ready, or has become ready after another one.
func (f *follower) starting(created, ready time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.living {
		if p.ready && p.readyChanged.After(ready) || !p.ready && p.created.After(created) {
			return true
		}
	}
	return false
}

// emptyPollInterval is how soon the scale is read after the last pod was deleted.
const emptyPollInterval = 2 * time.Second

// readScale reads the scale, and returns when to read it again.
func (f *follower) readScale(ctx context.Context) (next time.Duration) {
	found, err := f.watch.scale(ctx, f.workload)
	if ctx.Err() != nil {
		return 0
	}
	if err == nil {
		f.recordScale(found)
		return f.watch.config.Recheck
	}
	problem, authors := scaleError(f.workload, err)
	if f.recordError(problem) && !authors {
		f.watch.logOnce(ctx, "scale", f.workload.Namespace, problem)
	}
	if f.scaleOutdated() {
		return min(f.watch.config.Recheck, emptyPollInterval)
	}
	const jitter = 0.5
	return wait.Jitter(f.watch.config.Retry, jitter)
}

func (f *follower) recordScale(found scale) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods != nil && (f.selector == nil || f.selector.String() != found.selector.String()) {
		f.follow(found.selector)
		f.pods.start()
	}
	f.err, f.replicas, f.scaleRead, f.scaleLost = nil, found.replicas, len(f.living) == 0, false
}

// recordError records why the scale could not be read, and reports whether the pods are therefore not followed. If the scale was read
// before, its pods are still followed, unless the scale was deleted.
func (f *follower) recordError(problem *informer.ReadError) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.selector != nil && !apierrors.IsNotFound(problem) {
		f.scaleLost = true
		return false
	}
	f.selector, f.err, f.scaleRead = nil, problem, false
	return true
}

// scaleOutdated reports whether the scale must be read because no pods are left.
func (f *follower) scaleOutdated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known() && len(f.living) == 0 && !f.scaleRead
}

// listed is called after the pods of the namespace were listed again. Then the scale must be read again, too.
func (f *follower) listed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scaleRead = false
	f.readSoonIfEmpty()
}

// readSoonIfEmpty schedules a read of the scale if there are no pods. The caller holds the lock.
func (f *follower) readSoonIfEmpty() {
	if f.selector != nil && len(f.living) == 0 && !f.scaleRead {
		f.watch.due.AddAfter(f.workload, min(f.watch.config.Recheck, emptyPollInterval))
	}
}

// follow switches to the pods of another selector. Pods that match both selectors are still observed. The caller holds the lock.
func (f *follower) follow(selector labels.Selector) {
	f.selector, f.living, f.terminating = selector, map[string]podState{}, map[string]bool{}
	before := f.firsts
	f.firsts = leadtime.PodTracker{}
	for _, p := range f.pods.List() {
		if life, known := before[p.UID]; known && f.follows(p) {
			f.firsts[p.UID] = life
		}
		f.observe(p)
	}
}

func (f *follower) follows(p *pod) bool {
	return isOwnedBy(f.workload, p) && f.selector.Matches(p.labels)
}

// change handles a change of a pod in the namespace.
func (f *follower) change(before, after *pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.selector == nil {
		return
	}
	if before != nil && (after == nil || after.UID != before.UID || !f.follows(after)) {
		f.firsts.Forget(before.UID)
		f.end(before.UID)
	}
	if after != nil {
		f.observe(after)
	}
}

// observe processes a pod. The caller holds the lock.
func (f *follower) observe(p *pod) {
	if !f.follows(p) {
		return
	}
	if p.Ended {
		f.end(p.UID)
		if p.terminating && len(f.terminating) < leadtime.MaxPods {
			f.terminating[p.UID] = true
		}
	} else {
		f.trackLiving(p.UID, podState{
			created: p.Created, placed: p.placed, ready: p.Ready, readyChanged: p.ReadyChanged,
		})
	}
	if start, first := f.firsts.Observe(p.Pod); first {
		f.recent.Add(start)
	}
}

// end records that a pod is no longer living. The caller holds the lock.
func (f *follower) end(uid string) {
	delete(f.terminating, uid)
	if _, lived := f.living[uid]; lived {
		delete(f.living, uid)
		f.readSoonIfEmpty()
	}
}

// trackLiving records that a pod is living, and its state. Pods beyond MaxPods are not counted. When the counted pods are deleted, the
// scale shows that there are others. The caller holds the lock.
func (f *follower) trackLiving(uid string, at podState) {
	if _, known := f.living[uid]; !known && len(f.living) >= leadtime.MaxPods {
		return
	}
	f.living[uid] = at
	// The scale must be read again after this pod is deleted.
	f.scaleRead = false
}
