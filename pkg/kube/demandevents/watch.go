// Package demandevents watches the DemandEvents of a cluster, for the Forecasts that have them, and writes what became of each into its
// status.
package demandevents

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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Watch watches the DemandEvents of all namespaces. Each is decoded by itself, so that one that does not fit its type does not affect the
// others. It is safe for concurrent use.
type Watch struct {
	log    *slog.Logger
	client dynamic.NamespaceableResourceInterface
	// informer keeps each object as an *object.
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
	// err is why the newest attempt to list or watch failed.
	err     atomic.Pointer[error]
	changed changes.Feed

	mu sync.Mutex
	// lists are those of each Forecast by namespace and name, since the last change of the namespace.
	lists map[string]map[string][]calendar.Event
}

// object is a DemandEvent as it is stored.
type object struct {
	*unstructured.Unstructured

	event manifest.DemandEvent
	// problem is why it is invalid; empty if it is not.
	problem string
}

// NewWatch returns a watch. It sends no requests before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("make a client for DemandEvents: %w", err)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, resource(), metav1.NamespaceAll, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil).Informer()
	w := &Watch{
		log:      log,
		client:   client.Resource(resource()),
		informer: informer,
		lists:    map[string]map[string][]calendar.Event{},
	}
	w.handler, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(after any) { w.upsert(nil, after) }, UpdateFunc: w.upsert, DeleteFunc: w.remove,
	})
	err = errors.Join(err, informer.SetTransform(decode), informer.SetWatchErrorHandlerWithContext(w.watchFailed))
	if err != nil {
		return nil, fmt.Errorf("watch DemandEvents: %w", err)
	}
	return w, nil
}

func resource() schema.GroupVersionResource {
	return v1alpha1.GroupVersion().WithResource("demandevents")
}

// Run watches until the context ends. While the cluster does not answer it retries with growing intervals.
func (w *Watch) Run(ctx context.Context) error {
	w.informer.RunWithContext(ctx)
	return nil
}

// WaitForSync waits until the events were read, or could not be read, or until a timeout.
func (w *Watch) WaitForSync(ctx context.Context, patience time.Duration) {
	const glance = 20 * time.Millisecond
	//nolint:errcheck // The caller continues in any case.
	_ = wait.PollUntilContextTimeout(ctx, glance, patience, true, func(context.Context) (bool, error) {
		return w.handler.HasSynced() || w.err.Load() != nil, nil
	})
}

// Changes notifies of each change.
func (w *Watch) Changes() *changes.Feed { return &w.changed }

// Of returns the events of a Forecast, the oldest first. The list is the same one while nothing changes. Read only.
func (w *Watch) Of(key snapshot.Key) []calendar.Event {
	w.mu.Lock() // A change is in the index before its handler forgets the list.
	defer w.mu.Unlock()
	found, err := w.informer.GetIndexer().ByIndex(cache.NamespaceIndex, key.Namespace)
	if err != nil || len(found) == 0 {
		return nil
	}
	if known, ok := w.lists[key.Namespace][key.Name]; ok {
		return known
	}
	var events []calendar.Event
	for _, o := range sorted(found) {
		if o.problem == "" && o.isOf(key.Name) {
			events = append(events, o.event.Event)
		}
	}
	if w.lists[key.Namespace] == nil {
		w.lists[key.Namespace] = map[string][]calendar.Event{}
	}
	w.lists[key.Namespace][key.Name] = events
	return events
}

// isOf reports whether an event names a Forecast of its namespace, or none.
func (o *object) isOf(forecast string) bool {
	return len(o.event.Forecasts) == 0 || slices.Contains(o.event.Forecasts, forecast)
}

// decode decodes an object for the informer.
func decode(item any) (any, error) {
	stored, ok := item.(*unstructured.Unstructured)
	if !ok {
		return item, nil
	}
	stored.SetManagedFields(nil)
	out := &object{Unstructured: stored}
	var read v1alpha1.DemandEvent
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &read); err != nil {
		out.problem = "is not a DemandEvent of " + v1alpha1.GroupVersion().String() + ": " + err.Error()
		return out, nil //nolint:nilerr // It is the object's problem.
	}
	event, problems := manifest.ResolveDemandEvent(read.Name, &read.Spec)
	out.event, out.problem = event, manifest.JoinProblems(problems)
	return out, nil
}

// sorted are the objects of a store, the oldest first.
func sorted(items []any) []*object {
	var out []*object
	for _, item := range items {
		if o, ok := item.(*object); ok {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *object) int {
		return cmp.Or(
			a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
			strings.Compare(a.GetNamespace(), b.GetNamespace()),
			strings.Compare(a.GetName(), b.GetName()),
		)
	})
	return out
}

func (w *Watch) upsert(before, after any) {
	o, ok := after.(*object)
	last, known := before.(*object)
	if !ok || known && last.GetGeneration() == o.GetGeneration() && last.GetUID() == o.GetUID() {
		return
	}
	if o.problem != "" {
		w.log.Warn("a DemandEvent is invalid", "event", o.GetNamespace()+"/"+o.GetName(), "problem", o.problem)
	}
	w.forget(o.GetNamespace())
}

func (w *Watch) remove(item any) {
	if name, err := cache.DeletionHandlingObjectToName(item); err == nil {
		w.forget(name.Namespace)
	}
}

func (w *Watch) forget(namespace string) {
	w.mu.Lock()
	delete(w.lists, namespace)
	w.mu.Unlock()
	w.changed.Notify()
}

// watchFailed records and logs why events cannot be read, once for each reason. The informer retries.
func (w *Watch) watchFailed(ctx context.Context, _ *cache.Reflector, err error) {
	fault := fmt.Errorf("watch the DemandEvents: %w", err)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		fault = fmt.Errorf("cannot read DemandEvents: upgrade the chart with demandEvents.enabled: %w", err)
	}
	before := w.err.Swap(&fault)
	if before == nil || (*before).Error() != fault.Error() {
		w.log.WarnContext(ctx, "DemandEvents do not count", "reason", fault)
	}
}
