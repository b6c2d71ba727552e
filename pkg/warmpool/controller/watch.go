package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Watch sees the pools of all namespaces. Each is decoded by itself, so that one that does not fit its type costs itself
// and not the list. It is safe for concurrent use.
type Watch struct {
	log      *slog.Logger
	client   dynamic.NamespaceableResourceInterface
	informer cache.SharedIndexInformer
	reading  cache.ResourceEventHandlerRegistration
	// fault is why the newest attempt to list or watch failed.
	fault atomic.Pointer[error]

	mu     sync.Mutex
	known  map[snapshot.Key]*Pool
	sorted []*Pool // made of known when it is asked for; nil after a change
	covers map[snapshot.Key]cover
}

// cover is the pool that stands ready for a Forecast, from a time on.
type cover struct {
	pool  string
	since time.Time
}

// NewWatch prepares to watch the pools. Nothing is asked before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	own := rest.CopyConfig(cluster)
	// The controller has a limit of its own; the client's default of 5 requests/s would be a second, hidden one.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for WarmPools: %w", err)
	}
	w := &Watch{
		log: log, client: client.Resource(resource()),
		informer: dynamicinformer.NewFilteredDynamicInformer(
			client, resource(), metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer(),
		known: map[snapshot.Key]*Pool{}, covers: map[snapshot.Key]cover{},
	}
	if err = w.informer.SetWatchErrorHandlerWithContext(w.watchFailed); err != nil {
		return nil, fmt.Errorf("watch WarmPools: %w", err)
	}
	w.reading, err = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    w.upsert,
		UpdateFunc: func(_, after any) { w.upsert(after) },
		DeleteFunc: w.remove,
	})
	if err != nil {
		return nil, fmt.Errorf("watch WarmPools: %w", err)
	}
	return w, nil
}

func resource() schema.GroupVersionResource {
	return v1alpha1.GroupVersion().WithResource("warmpools")
}

// Run watches until the context ends. A cluster that does not know WarmPools is asked again with growing pauses, so that
// they work from when it does.
func (w *Watch) Run(ctx context.Context) error {
	w.informer.RunWithContext(ctx)
	return nil
}

// Settle waits until the pools have been read, or cannot be, for some time at most.
func (w *Watch) Settle(ctx context.Context, patience time.Duration) {
	const glance = 20 * time.Millisecond
	//nolint:errcheck // Whoever waited goes on in any case.
	_ = wait.PollUntilContextTimeout(ctx, glance, patience, true, func(context.Context) (bool, error) {
		return w.reading.HasSynced() || w.fault.Load() != nil, nil
	})
}

// Check is nil once the pools have been read; else it says what is in the way. A forewarm without pools is whole.
func (w *Watch) Check() error {
	if w.reading.HasSynced() {
		return nil
	}
	if fault := w.fault.Load(); fault != nil {
		return *fault
	}
	return errors.New("the WarmPools have not been read yet")
}

// List are the pools of all namespaces, in the order of their namespaces and names. Read only.
func (w *Watch) List() []*Pool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sorted == nil {
		w.sorted = make([]*Pool, 0, len(w.known))
		for _, p := range w.known {
			w.sorted = append(w.sorted, p)
		}
		slices.SortFunc(w.sorted, func(a, b *Pool) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		})
	}
	return w.sorted
}

// Covered says which pool stands ready for a Forecast, and from when on, as the leader last wrote it.
func (w *Watch) Covered(namespace, forecast string) (pool string, since time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.covers[snapshot.Key{Namespace: namespace, Name: forecast}]
	return c.pool, c.since, ok
}

func (w *Watch) upsert(item any) {
	object, ok := item.(*unstructured.Unstructured)
	if !ok {
		return
	}
	key := snapshot.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := read(object, w.known[key])
	if before := w.known[key]; p.Problem != "" && (before == nil || before.Problem != p.Problem) {
		w.log.Warn("a WarmPool is invalid", "pool", key.String(), "problem", p.Problem)
	}
	w.known[key] = p
	w.changed()
}

func (w *Watch) remove(item any) {
	if tombstone, ok := item.(cache.DeletedFinalStateUnknown); ok {
		item = tombstone.Obj
	}
	object, ok := item.(*unstructured.Unstructured)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, snapshot.Key{Namespace: object.GetNamespace(), Name: object.GetName()})
	w.changed()
}

// changed forgets what follows from the pools. Of several that cover a Forecast, which only lasts for a moment, the oldest
// counts.
func (w *Watch) changed() {
	w.sorted = nil
	clear(w.covers)
	by := map[snapshot.Key]*Pool{}
	for _, p := range w.known {
		for _, c := range p.Status.Covered {
			key := snapshot.Key{Namespace: p.Namespace, Name: c.Forecast}
			if first := by[key]; first == nil || older(p, first) {
				by[key], w.covers[key] = p, cover{pool: p.Name, since: c.Since.Time}
			}
		}
	}
}

// watchFailed says why there are no pools, once for each reason; the informer tries again by itself.
func (w *Watch) watchFailed(ctx context.Context, _ *cache.Reflector, err error) {
	fault := fmt.Errorf("watch the WarmPools: %w", err)
	level := slog.LevelWarn
	switch {
	case apierrors.IsNotFound(err):
		// That of a cluster that uses forecasts only.
		level = slog.LevelInfo
		fault = fmt.Errorf("the cluster does not know %s: apply deploy/crds to have warm pools: %w",
			resource().GroupResource(), err)
	case apierrors.IsForbidden(err):
		fault = fmt.Errorf("the WarmPools must not be read: apply deploy/rbac: %w", err)
	}
	before := w.fault.Swap(&fault)
	if before == nil || (*before).Error() != fault.Error() {
		w.log.Log(ctx, level, "warm pools are off", "reason", fault)
	}
}
