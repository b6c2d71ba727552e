package workloads

import (
	"context"
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

// follower watches the pods of one workload.
type follower struct {
	watch    *Watch
	workload leadtime.Workload
	stop     context.CancelFunc

	mu sync.Mutex
	// listed: the pods have been read since the last fault.
	listed bool
	fault  *fault
	firsts leadtime.Firsts
	recent leadtime.Recent
	// living are the pods that have not ended and were not told to, and whether each has a place.
	living map[types.UID]place
	// replicas is how many the scale asked for when it was read; asked: that was after the last of the living went.
	replicas int64
	asked    bool
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
	case f.fault != nil:
		return f.fault.words
	}
	return Listing
}

// atZero says whether the workload stands at zero; known is false while that is not known.
func (f *follower) atZero() (zero, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.listed || len(f.living) == 0 && !f.asked {
		return false, false
	}
	return len(f.living) == 0 && f.replicas == 0, true
}

// places counts the living; known is false while they are not listed.
func (f *follower) places() (placed, waiting int, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.listed {
		return 0, 0, false
	}
	for _, p := range f.living {
		if p == onNode {
			placed++
		}
	}
	return placed, len(f.living) - placed, true
}

// run follows until the context ends, with a pause after each fault.
func (f *follower) run(ctx context.Context) {
	defer f.stop()
	const jitter = 0.5
	wait.JitterUntilWithContext(ctx, f.round, f.watch.config.Retry, jitter, true)
}

// round asks which pods to watch, and watches them until they are others, or the right to is not there.
func (f *follower) round(ctx context.Context) {
	for again := true; again && ctx.Err() == nil; {
		found, err := f.watch.scale(ctx, f.workload)
		if err != nil {
			f.fail(ctx, scaleFault(f.workload, err))
			return
		}
		again = f.follow(ctx, found.selector)
	}
}

// fail takes down a fault. Its words stay until the pods are read: they must not come and go with every attempt. A watch
// that an API server lost by being restarted is no fault yet; the next list tells.
func (f *follower) fail(ctx context.Context, found *fault) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	lost := f.listed && found.kind == answer
	f.listed = false
	if !lost {
		f.fault = found
	}
	f.mu.Unlock()
	if !lost && found.kind != "" {
		f.watch.report(ctx, found, f.workload)
	}
}

// follow watches the pods of a selector, and says whether that ended because the selector did.
func (f *follower) follow(ctx context.Context, selector string) (another bool) {
	watching, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		defer stop()
		// It returns when its connection or its place in the stream of changes is lost for good.
		if err := f.reflector(selector).ListAndWatchWithContext(watching); err != nil && watching.Err() == nil {
			f.fail(ctx, podsFault(f.workload, err))
		}
	})
	for f.pause(watching) {
		now, err := f.watch.scale(watching, f.workload)
		if apierrors.IsNotFound(err) || err == nil && now.selector != selector {
			return true
		}
		if err == nil {
			f.scaled(now.replicas)
		}
	}
	return false
}

// pause waits until the scale is to be read again: soon when the last pod has gone, else after a long while. It says
// whether there still is something to follow.
func (f *follower) pause(ctx context.Context) bool {
	waited, glance := time.Duration(0), min(f.watch.config.Recheck, glance)
	// The condition gives no error, so what ends the wait is that it holds, or the context.
	return wait.PollUntilContextCancel(ctx, glance, false, func(context.Context) (bool, error) {
		waited += glance
		return waited >= f.watch.config.Recheck || f.unsure(), nil
	}) == nil
}

// glance is how soon the scale is read when the last pod has gone.
const glance = 2 * time.Second

func (f *follower) unsure() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listed && len(f.living) == 0 && !f.asked
}

func (f *follower) scaled(replicas int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas, f.asked = replicas, len(f.living) == 0
}

// reflector lists and watches for the follower, which keeps no copies of pods, and so needs no informer's store.
func (f *follower) reflector(selector string) *cache.Reflector {
	pods := cache.NewFilteredListWatchFromClient(f.watch.pods.CoreV1().RESTClient(), "pods", f.workload.Namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = selector })
	return cache.NewReflectorWithOptions(pods, &corev1.Pod{}, f, cache.ReflectorOptions{Name: f.workload.Ref()})
}

// A follower is the store of its own watch. It keeps the lives of pods alone: nobody asks for a pod.
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

// Replace implements cache.ReflectorStore. What is not in the list went while nobody watched. The others are met again as
// they are now, so one that became ready in between is found.
func (f *follower) Replace(items []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed, f.fault = true, nil
	f.living, f.asked = map[types.UID]place{}, false
	before := f.firsts
	f.firsts = make(leadtime.Firsts, min(len(items), leadtime.MaxPods))
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

// observe looks at a pod, with the lock held.
func (f *follower) observe(p *corev1.Pod) {
	if !owns(f.workload, p) {
		return
	}
	seen := see(p)
	if seen.Over {
		delete(f.living, p.UID)
	} else {
		f.lives(p.UID, placeOf(p))
	}
	if start, first := f.firsts.Observe(seen); first {
		f.recent.Add(start)
	}
}

// lives takes down that a pod lives and whether it has a place, with the lock held. Those beyond MaxPods are not counted;
// should the counted ones go, the scale tells that there are others.
func (f *follower) lives(uid types.UID, at place) {
	if _, known := f.living[uid]; !known && len(f.living) >= leadtime.MaxPods {
		return
	}
	f.living[uid] = at
	// What the scale said before is of no use when this one goes.
	f.asked = false
}
