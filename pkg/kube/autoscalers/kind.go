package autoscalers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/manifest"
)

// kind is one kind of autoscaler, in all namespaces.
type kind struct {
	watch *Watch
	name  string
	// source lists and watches objects like example, and read returns the references of one.
	source  cache.ListerWatcher
	example runtime.Object
	read    func(any) []manifest.Reference

	// The watch's lock guards what follows. tried: it was listed, or that failed; listed: since the last error.
	tried, listed bool
	err           *readError
}

// run lists and watches until the context ends, with a pause after each error. A kind that the cluster does not have
// may be installed later.
func (k *kind) run(ctx context.Context) {
	const jitter = 0.5
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		reflector := cache.NewReflectorWithOptions(k.source, k.example, k, cache.ReflectorOptions{Name: k.name})
		// It returns when its connection or its resource version is lost for good.
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			k.recordError(ctx, err)
		}
	}, k.watch.config.Retry, jitter, true)
}

// recordError records an error. Known references stay, except those of a kind that was removed. A watch that ends
// because the API server restarts is not an error yet; the next list decides.
func (k *kind) recordError(ctx context.Context, err error) {
	found := classifyError(k.name, err)
	w := k.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	lost := k.listed && found != nil && found.transient
	k.tried, k.listed = true, false
	if lost {
		return
	}
	before := k.err
	k.err = found
	switch {
	case found == nil:
		k.replace(nil)
	case before == nil || before.message != found.message:
		w.log.WarnContext(ctx,
			"cannot read autoscalers: objectives are calibrated for the known ones, or for "+
				"spec.scaling; retrying", "kind", k.name, "error", found)
	}
}

// id returns the identity of an object of the kind.
func (k *kind) id(item any) (autoscalerID, bool) {
	object, ok := item.(metav1.Object)
	if !ok {
		return autoscalerID{}, false
	}
	return autoscalerID{namespace: object.GetNamespace(), kind: k.name, name: object.GetName()}, true
}

// A kind is the store of its own watch. It keeps only references.
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

func (k *kind) set(item any, references []manifest.Reference) {
	k.watch.mu.Lock()
	defer k.watch.mu.Unlock()
	if name, ok := k.id(item); ok {
		k.watch.index.set(name, references)
	}
}

// Replace implements cache.ReflectorStore. A list clears the error.
func (k *kind) Replace(items []any, _ string) error {
	k.watch.mu.Lock()
	defer k.watch.mu.Unlock()
	k.tried, k.listed, k.err = true, true, nil
	k.replace(items)
	return nil
}

// Resync implements cache.ReflectorStore.
func (*kind) Resync() error { return nil }

// replace replaces all objects of the kind, with the lock held.
func (k *kind) replace(items []any) {
	there := make(map[autoscalerID]bool, len(items))
	for _, item := range items {
		if name, ok := k.id(item); ok {
			there[name] = true
			k.watch.index.set(name, k.read(item))
		}
	}
	k.watch.index.retain(func(name autoscalerID) bool { return name.kind != k.name || there[name] })
}

// readError is why the autoscalers of a kind cannot be read.
type readError struct {
	// transient errors may pass without a change by the user.
	transient bool
	// message is for a status. It omits the cause, whose text may differ with every attempt.
	message string
	cause   error
}

func (f *readError) Error() string { return f.message + ": " + f.cause.Error() }

func (f *readError) Unwrap() error { return f.cause }

// classifyError returns the error of a list or watch; nil where the cluster does not have the kind: then there are no
// autoscalers.
func classifyError(kind string, err error) *readError {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		return &readError{message: "cannot read " + kind + "s: apply deploy/default, or upgrade the chart", cause: err}
	}
	return &readError{transient: true, message: "cannot read " + kind + "s, retrying", cause: err}
}
