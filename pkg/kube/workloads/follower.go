package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// follower watches the pods of one workload, or only reads its scale.
type follower struct {
	watch     *Watch
	workload  leadtime.Workload
	scaleOnly bool
	stop      context.CancelFunc

	mu sync.Mutex
	// listed: the pods were read since the last error.
	listed bool
	err    *watchError
	firsts leadtime.PodTracker
	recent leadtime.RecentStarts
	// living are the pods that neither ended nor are terminating.
	living map[types.UID]podState
	// replicas of the scale when it was read; scaleRead: that was after the last living pod was deleted.
	replicas  int64
	scaleRead bool
	// scaleLost: the last attempt to read the scale failed.
	scaleLost bool
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
	case f.listed:
		return ""
	case f.err != nil:
		return f.err.message
	case f.scaleOnly:
		return fmt.Sprintf("the pods of at most %d workloads are watched, which the namespaces share",
			f.watch.config.MaxWorkloads)
	}
	return Listing
}

// scaledToZero reports whether the workload is scaled to zero; known is false while that is unknown.
func (f *follower) scaledToZero() (zero, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.listed && !f.scaleOnly || len(f.living) == 0 && (!f.scaleRead || f.scaleLost) {
		return false, false
	}
	return len(f.living) == 0 && f.replicas == 0, true
}

// countReplicas counts the living pods; known is false while they are not listed.
func (f *follower) countReplicas() (out Replicas, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.listed {
		return Replicas{}, false
	}
	out.Wanted, out.Living = int(f.replicas), len(f.living)
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

// unplacedSince counts the living pods without a node that were created at a time or before.
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

// run watches until the context ends, with a pause after each error.
func (f *follower) run(ctx context.Context) {
	defer f.stop()
	const jitter = 0.5
	if f.scaleOnly {
		wait.JitterUntilWithContext(ctx, f.readScale, f.watch.config.Recheck/2, jitter, true)
		return
	}
	wait.JitterUntilWithContext(ctx, f.round, f.watch.config.Retry, jitter, true)
}

// readScale reads only the scale. What cannot be read is not known any more.
func (f *follower) readScale(ctx context.Context) {
	found, err := f.watch.scale(ctx, f.workload)
	if err != nil {
		f.recordError(ctx, scaleError(f.workload, err))
		return
	}
	f.mu.Lock()
	f.err = nil
	f.mu.Unlock()
	f.recordScale(found.replicas)
}

// round reads the selector, and watches its pods until the selector changes or an error occurs.
func (f *follower) round(ctx context.Context) {
	for again := true; again && ctx.Err() == nil; {
		found, err := f.watch.scale(ctx, f.workload)
		if err != nil {
			f.recordError(ctx, scaleError(f.workload, err))
			return
		}
		f.mu.Lock()
		f.replicas = found.replicas
		f.mu.Unlock()
		again = f.follow(ctx, found.selector)
	}
}

// recordError records an error. It stays until the pods are read, so that the message does not change with every
// attempt. A watch that ends because the API server restarts is not an error yet; the next list decides.
func (f *follower) recordError(ctx context.Context, found *watchError) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	lost := f.listed && found.kind == transient
	f.listed, f.scaleRead = false, false
	if !lost {
		f.err = found
	}
	f.mu.Unlock()
	if !lost && found.kind != "" {
		f.watch.logOnce(ctx, found, f.workload)
	}
}

// follow watches the pods of a selector, and reports whether it ended because the selector changed.
func (f *follower) follow(ctx context.Context, selector string) (another bool) {
	watching, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		defer stop()
		// It returns when its connection or its resource version is lost for good.
		if err := f.reflector(selector).ListAndWatchWithContext(watching); err != nil && watching.Err() == nil {
			f.recordError(ctx, podsError(f.workload, err))
		}
	})
	for f.pause(watching) {
		now, err := f.watch.scale(watching, f.workload)
		if apierrors.IsNotFound(err) || err == nil && now.selector != selector {
			return true
		}
		if err == nil {
			f.recordScale(now.replicas)
		} else {
			f.loseScale()
		}
	}
	return false
}

func (f *follower) loseScale() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scaleLost = true
}

// pause waits until the scale must be read again: soon after the last pod was deleted, else after the recheck
// interval. It reports whether the watch continues.
func (f *follower) pause(ctx context.Context) bool {
	waited, glance := time.Duration(0), min(f.watch.config.Recheck, emptyPollInterval)
	// The condition returns no error, so the wait ends when it is true, or with the context.
	return wait.PollUntilContextCancel(ctx, glance, false, func(context.Context) (bool, error) {
		waited += glance
		return waited >= f.watch.config.Recheck || f.scaleOutdated(), nil
	}) == nil
}

// emptyPollInterval is how soon the scale is read after the last pod was deleted.
const emptyPollInterval = 2 * time.Second

func (f *follower) scaleOutdated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listed && len(f.living) == 0 && !f.scaleRead
}

func (f *follower) recordScale(replicas int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas, f.scaleRead, f.scaleLost = replicas, len(f.living) == 0, false
}

// reflector lists and watches for the follower, which keeps no copies of pods.
func (f *follower) reflector(selector string) *cache.Reflector {
	pods := cache.NewFilteredListWatchFromClient(f.watch.pods.CoreV1().RESTClient(), "pods", f.workload.Namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = selector })
	return cache.NewReflectorWithOptions(pods, &corev1.Pod{}, f, cache.ReflectorOptions{Name: f.workload.Ref()})
}

// A follower is the store of its own watch. It does not keep pods.
var _ cache.ReflectorStore = (*follower)(nil)

// Add implements cache.ReflectorStore.
func (f *follower) Add(item any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := item.(*corev1.Pod); ok {
		f.observe(p)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (f *follower) Update(item any) error { return f.Add(item) }

// Delete implements cache.ReflectorStore.
func (f *follower) Delete(item any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := item.(*corev1.Pod); ok {
		f.firsts.Forget(string(p.UID))
		delete(f.living, p.UID)
	}
	return nil
}

// Replace implements cache.ReflectorStore. Pods that are not in the list were deleted meanwhile. The others are
// observed again, so that one that became ready meanwhile is found.
func (f *follower) Replace(items []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed, f.err = true, nil
	f.living, f.scaleRead = map[types.UID]podState{}, false
	before := f.firsts
	f.firsts = make(leadtime.PodTracker, min(len(items), leadtime.MaxPods))
	for _, item := range items {
		p, ok := item.(*corev1.Pod)
		if !ok {
			continue
		}
		if life, known := before[string(p.UID)]; known {
			f.firsts[string(p.UID)] = life
		}
		f.observe(p)
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (*follower) Resync() error { return nil }

// observe processes a pod, with the lock held.
func (f *follower) observe(p *corev1.Pod) {
	if !isOwnedBy(f.workload, p) {
		return
	}
	seen := readPod(p)
	if seen.Ended {
		delete(f.living, p.UID)
	} else {
		f.trackLiving(p.UID, podState{
			created: seen.Created, placed: p.Spec.NodeName != "", ready: seen.Ready,
		})
	}
	if start, first := f.firsts.Observe(seen); first {
		f.recent.Add(start)
	}
}

// trackLiving records that a pod lives and its state, with the lock held. Pods beyond MaxPods are not
// counted; when the counted ones are deleted, the scale shows that there are others.
func (f *follower) trackLiving(uid types.UID, at podState) {
	if _, known := f.living[uid]; !known && len(f.living) >= leadtime.MaxPods {
		return
	}
	f.living[uid] = at
	// The scale must be read again after this pod is deleted.
	f.scaleRead = false
}
