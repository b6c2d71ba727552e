package autoscalers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// kind is one kind of autoscalers, in all namespaces.
type kind struct {
	watch *Watch
	name  string
	// source lists and watches objects like example, and read makes references of one.
	source  cache.ListerWatcher
	example runtime.Object
	read    func(any) []autoscaler.Reference

	// What follows is guarded by the watch's lock. asked: it was listed, or that failed; listed: since the last fault.
	asked, listed bool
	fault         *fault
}

// run lists and watches until the context ends, with a pause after each fault. A kind that the cluster does not know may
// come later.
func (k *kind) run(ctx context.Context) {
	const jitter = 0.5
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		reflector := cache.NewReflectorWithOptions(k.source, k.example, k, cache.ReflectorOptions{Name: k.name})
		// It returns when its connection or its place in the stream of changes is lost for good.
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			k.fail(ctx, err)
		}
	}, k.watch.config.Retry, jitter, true)
}

// fail takes down a fault. What is known stays known, but of a kind that is not there any more. A watch that an API server
// lost by being restarted is no fault yet; the next list tells.
func (k *kind) fail(ctx context.Context, err error) {
	found := faultOf(k.name, err)
	w := k.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	lost := k.listed && found != nil && found.passing
	k.asked, k.listed = true, false
	if lost {
		return
	}
	before := k.fault
	k.fault = found
	switch {
	case found == nil:
		k.replace(nil)
	case before == nil || before.words != found.words:
		w.log.WarnContext(ctx,
			"autoscalers cannot be read: objectives are calibrated for those that are known, or for "+
				"spec.scaling; trying again", "kind", k.name, "error", found)
	}
}

// id names an object of the kind.
func (k *kind) id(item any) (id, bool) {
	object, ok := item.(metav1.Object)
	if !ok {
		return id{}, false
	}
	return id{namespace: object.GetNamespace(), kind: k.name, name: object.GetName()}, true
}

// A kind is the store of its own watch: what it keeps of objects are references.
var _ cache.ReflectorStore = (*kind)(nil)

// Add implements cache.ReflectorStore.
func (k *kind) Add(item any) error {
	k.set(item, k.read(item))
	return nil
}

// Update implements cache.ReflectorStore.
func (k *kind) Update(item any) error { return k.Add(item) }

// Delete implements cache.ReflectorStore.
func (k *kind) Delete(item any) error {
	k.set(item, nil)
	return nil
}

func (k *kind) set(item any, references []autoscaler.Reference) {
	k.watch.mu.Lock()
	defer k.watch.mu.Unlock()
	if name, ok := k.id(item); ok {
		k.watch.index.set(name, references)
	}
}

// Replace implements cache.ReflectorStore: it takes what was listed, which ends a fault.
func (k *kind) Replace(items []any, _ string) error {
	k.watch.mu.Lock()
	defer k.watch.mu.Unlock()
	k.asked, k.listed, k.fault = true, true, nil
	k.replace(items)
	return nil
}

// Resync implements cache.ReflectorStore.
func (*kind) Resync() error { return nil }

// replace takes all objects of the kind, with the lock held.
func (k *kind) replace(items []any) {
	there := make(map[id]bool, len(items))
	for _, item := range items {
		if name, ok := k.id(item); ok {
			there[name] = true
			k.watch.index.set(name, k.read(item))
		}
	}
	k.watch.index.keep(func(name id) bool { return name.kind != k.name || there[name] })
}

// fault is why the autoscalers of a kind cannot be read.
type fault struct {
	// passing: it may mend itself.
	passing bool
	// words are for a status. They leave out the cause, whose text may differ with every attempt.
	words string
	cause error
}

func (f *fault) Error() string { return f.words + ": " + f.cause.Error() }

func (f *fault) Unwrap() error { return f.cause }

// faultOf is the fault of a list or watch; nil where the cluster does not know the kind: then there are none.
func faultOf(kind string, err error) *fault {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		return &fault{words: kind + "s cannot be read: apply deploy/rbac", cause: err}
	}
	return &fault{passing: true, words: kind + "s cannot be read, trying again", cause: err}
}
