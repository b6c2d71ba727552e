// Package informer lists and watches the objects of one resource of a cluster, and keeps what is needed of each.
//
// Each object is processed when it arrives, so memory never contains more complete objects than one page of a list. Unlike the informers
// of client-go, this one can keep values that are not Kubernetes objects.
package informer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/forewarm/forewarm/pkg/kube/changes"
)

// Config says what the objects are, and which functions to call for them. Only Name is required.
type Config[T any] struct {
	// Name of the objects, in the plural.
	Name string
	// Index returns the values by which Indexed finds what is kept.
	Index func(kept *T) []string
	// Changed is told of what is new, changed or gone, one after the other. It is new without a before, gone without an after. What
	// has not changed may be told again after a list.
	Changed func(before, after *T)
	// Listed is told that a list, of which Changed was told, is complete.
	Listed func()
	// Failed is told of a problem that is not the one before.
	Failed func(ctx context.Context, problem *ReadError)
	// Verb is what Forewarm does with the objects, for messages (default: read). Advice says what to do if the permission is missing.
	Verb, Advice string
	// Bound limits what is kept of a namespace; nil for no limit.
	Bound *Bound[T]
	// Optional objects are those of a resource that a cluster need not have: then there are none.
	Optional bool
	// Retry is the longest pause after an error, but for up to half of it at random; default 30 s. The first is a second.
	Retry time.Duration
}

// ReadError says why objects could not be read.
type ReadError struct {
	// Text is for a status. It omits the cause, whose words may differ with every attempt.
	Text  string
	Cause error
}

func (e *ReadError) Error() string { return e.Text + ": " + e.Cause.Error() }

func (e *ReadError) Unwrap() error { return e.Cause }

// Watch keeps a T of each object of a resource. It is safe for concurrent use; what it returns is read only.
type Watch[T any] struct {
	config Config[T]
	source cache.ListerWatcher
	parse  func(object any) *T

	// changing is a lock for changes of the stored objects and for the calls of Changed. ranks orders the stored objects, and listing orders
	// those of a list that is not complete yet; both are nil without a Bound. lacking is notified when a stub comes within the limit.
	changing       sync.Mutex
	ranks, listing *ranking[T]
	lacking        changes.Signal

	mu sync.Mutex
	// kept has the stored values by the names of their objects; index has them by the keys of the index.
	kept  map[string]*T
	index map[string]map[string]*T
	// tried is true after the first list, even if it failed. synced is true after the first successful list. listed is true if a list
	// succeeded since the last error.
	tried, synced, listed bool
	problem               *ReadError
}

// New returns a Watch of a source's objects, which are of the type O. parse returns what is kept of one, whose managed fields are
// removed after that; nil for nothing. New sends no requests before Run.
func New[O runtime.Object, T any](source cache.ListerWatcher, parse func(O) *T, config Config[T]) *Watch[T] {
	config.Retry, config.Verb = cmp.Or(config.Retry, 30*time.Second), cmp.Or(config.Verb, "read")
	w := &Watch[T]{
		config:  config,
		source:  source,
		lacking: changes.NewSignal(),
		kept:    map[string]*T{},
		index:   map[string]map[string]*T{},
		parse: func(object any) *T {
			if own, ok := object.(O); ok {
				return parse(own)
			}
			return nil
		},
	}
	if config.Bound != nil {
		w.ranks = newRanking(config.Bound)
	}
	return w
}

// pageSize is the number of objects on a page of a list. An object has at most 1.5 MiB, and a page is in memory in full.
const pageSize = 50

// Run watches until the context ends, and returns nil. After an error it lists again, after pauses that grow. A resource that the
// cluster does not have may be installed later.
func (w *Watch[T]) Run(ctx context.Context) error {
	var filling sync.WaitGroup
	defer filling.Wait()
	if w.ranks != nil {
		filling.Go(func() { w.fill(ctx) })
	}
	const reset = 2 * time.Minute // client-go uses the same value.
	pause := wait.Backoff{
		Duration: min(time.Second, w.config.Retry), Cap: w.config.Retry, Factor: 2, Steps: 30, Jitter: 0.5,
	}
	//nolint:errcheck // It ends with the context.
	_ = pause.DelayWithReset(clock.RealClock{}, reset).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		w.beginList()
		reflector := cache.NewReflectorWithOptions(w.pages(), nil, w, cache.ReflectorOptions{
			Name: w.config.Name, TypeDescription: w.config.Name,
		})
		reflector.WatchListPageSize = pageSize // Otherwise, an API server before 1.34 sends some lists on one page.
		// ListAndWatch returns when its connection or its resource version is lost and cannot be recovered.
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			w.fail(ctx, err)
		}
		return false, nil
	})
	return nil
}

// fail records an error. The stored objects stay, unless the resource was removed. A watch that ends because the API server restarts is not
// a problem yet; the next list decides.
func (w *Watch[T]) fail(ctx context.Context, err error) {
	w.mu.Lock()
	lost := w.listed && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err)
	before, found := w.problem, w.problem
	if !lost {
		found = w.explain(err)
	}
	w.tried, w.listed, w.problem = true, false, found
	w.mu.Unlock()
	switch {
	case lost:
	case found == nil:
		w.replace(nil)
	case w.config.Failed != nil && (before == nil || before.Error() != found.Error()):
		w.config.Failed(ctx, found)
	}
}

// explain says why the objects are unknown. It returns nil if the resource is optional and the cluster does not have it.
func (w *Watch[T]) explain(err error) *ReadError {
	text := "cannot " + w.config.Verb + " " + w.config.Name
	switch {
	case apierrors.IsNotFound(err) && w.config.Optional:
		return nil
	case apierrors.IsNotFound(err):
		text = "the cluster does not have " + w.config.Name + ": " + w.config.Advice
	case apierrors.IsForbidden(err):
		text = "Forewarm is not allowed to " + w.config.Verb + " " + w.config.Name + ": " + w.config.Advice
	default:
		text += ", retrying"
	}
	return &ReadError{text, err}
}

// WaitForSync waits until the objects were listed, or could not be, and reports whether that was before a timeout.
func (w *Watch[T]) WaitForSync(ctx context.Context, timeout time.Duration) bool {
	const pollInterval = 20 * time.Millisecond
	return wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.tried, nil
	}) == nil
}

// Check returns nil once the objects were listed, else the error.
func (w *Watch[T]) Check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.synced:
		return nil
	case w.problem != nil:
		return w.problem
	}
	return fmt.Errorf("the %s have not been read yet", w.config.Name)
}

// Listed reports whether the objects were listed since the last error.
func (w *Watch[T]) Listed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listed
}

// Problem returns why the objects could not be listed at the last attempt, nil if they were.
func (w *Watch[T]) Problem() *ReadError {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.problem
}

// List returns all that is kept.
func (w *Watch[T]) List() []*T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.AppendSeq(make([]*T, 0, len(w.kept)), maps.Values(w.kept))
}

// Indexed returns what is kept of which the index has a value.
func (w *Watch[T]) Indexed(value string) []*T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.index[value]))
}
