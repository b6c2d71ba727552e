package autoscalers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/config/autoscaler"
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
		reflector := cache.NewReflectorWithOptions(k.source, k.example, store{k}, cache.ReflectorOptions{Name: k.name})
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
		w.log.WarnContext(
			ctx,
			"autoscalers cannot be read: objectives are calibrated for those that are known, or for "+
				"spec.scaling; trying again",
			"kind",
			k.name,
			"error",
			found,
		)
	}
}

// list takes what was listed, which ends a fault.
func (k *kind) list(items []any) {
	k.watch.mu.Lock()
	defer k.watch.mu.Unlock()
	k.asked, k.listed, k.fault = true, true, nil
	k.replace(items)
}

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

// id names an object of the kind.
func (k *kind) id(item any) (id, bool) {
	object, ok := item.(metav1.Object)
	if !ok {
		return id{}, false
	}
	return id{namespace: object.GetNamespace(), kind: k.name, name: object.GetName()}, true
}

// store takes what a watch says of a kind.
type store struct{ *kind }

var _ cache.ReflectorStore = store{}

// Add implements cache.ReflectorStore.
func (s store) Add(item any) error {
	if name, ok := s.id(item); ok {
		references := s.read(item)
		s.watch.mu.Lock()
		defer s.watch.mu.Unlock()
		s.watch.index.set(name, references)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (s store) Update(item any) error { return s.Add(item) }

// Delete implements cache.ReflectorStore.
func (s store) Delete(item any) error {
	if name, ok := s.id(item); ok {
		s.watch.mu.Lock()
		defer s.watch.mu.Unlock()
		s.watch.index.set(name, nil)
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (s store) Replace(items []any, _ string) error {
	s.list(items)
	return nil
}

// Resync implements cache.ReflectorStore.
func (store) Resync() error { return nil }
