package starts

import (
	"context"
	"errors"
	"io"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/leadtime"
)

// follower watches the pods of one workload.
type follower struct {
	watch    *Watch
	workload leadtime.Workload
	stop     context.CancelFunc

	mu sync.Mutex
	// synced is nil while there is no watch.
	synced func() bool
	fault  *fault
	firsts leadtime.Firsts
	recent leadtime.Recent
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
	case f.synced != nil && f.synced():
		// Until here the words of a fault stay: they must not come and go with every attempt.
		f.fault = nil
		return ""
	case f.fault != nil:
		return f.fault.words
	}
	return Listing
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
		selector, err := f.watch.selector(ctx, f.workload)
		if err != nil {
			f.fail(ctx, scaleFault(f.workload, err))
			return
		}
		again = f.follow(ctx, selector)
	}
}

// fail takes down a fault.
func (f *follower) fail(ctx context.Context, found *fault) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	f.fault = found
	f.mu.Unlock()
	if found.kind != "" {
		f.watch.report(ctx, found, f.workload)
	}
}

// follow watches the pods of a selector, and says whether that ended because the selector did.
func (f *follower) follow(ctx context.Context, selector string) (another bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	informer, err := f.informer(selector, cancel)
	if err != nil {
		f.fail(ctx, podsFault(f.workload, err))
		return false
	}
	// Whoever was followed before is met again as it is now.
	f.begin(informer.HasSynced)
	defer f.begin(nil)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { informer.RunWithContext(ctx) })
	// The condition gives no error, so what ends the wait is that it holds, or the context.
	ended := wait.PollUntilContextCancel(ctx, f.watch.config.Recheck, false, func(ctx context.Context) (bool, error) {
		now, asked := f.watch.selector(ctx, f.workload)
		return apierrors.IsNotFound(asked) || asked == nil && now != selector, nil
	})
	cancel()
	return ended == nil
}

func (f *follower) begin(synced func() bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced, f.firsts = synced, leadtime.Firsts{}
}

// informer prepares a watch. Where the right to watch is missing it calls refused: the pause of a watch that fails is
// half a minute at most, and this takes somebody to mend it.
func (f *follower) informer(selector string, refused func()) (cache.SharedIndexInformer, error) {
	informer := coreinformers.NewFilteredPodInformer(f.watch.pods, f.workload.Namespace, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.LabelSelector = selector })
	err := errors.Join(
		informer.SetTransform(func(item any) (any, error) { return strip(item, f.workload), nil }),
		informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
			f.watchFailed(ctx, err)
			if apierrors.IsForbidden(err) {
				refused()
			}
		}),
	)
	if err != nil {
		return nil, err
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    f.observe,
		UpdateFunc: func(_, after any) { f.observe(after) },
		DeleteFunc: f.forget,
	})
	return informer, err
}

// watchFailed takes down what is not the ordinary end of a watch.
func (f *follower) watchFailed(ctx context.Context, err error) {
	if errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	f.fail(ctx, podsFault(f.workload, err))
}

func (f *follower) observe(item any) {
	p, ok := item.(*pod)
	if !ok || p.foreign {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if start, first := f.firsts.Observe(p.seen); first {
		f.recent.Add(start)
	}
}

func (f *follower) forget(item any) {
	if tombstone, ok := item.(cache.DeletedFinalStateUnknown); ok {
		item = tombstone.Obj
	}
	p, ok := item.(*pod)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.firsts.Forget(p.seen.UID)
}
