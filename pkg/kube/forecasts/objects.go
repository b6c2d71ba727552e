package forecasts

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
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Objects are the Forecasts of a cluster. Each is decoded by itself, so that one that does not fit its type (stored under
// an older or a foreign schema) costs itself and not the list.
type Objects struct {
	resolver *manifest.Resolver
	log      *slog.Logger
	client   dynamic.NamespaceableResourceInterface
	informer cache.SharedIndexInformer
	// resolving is the hand-over from the watch to resolved.
	resolving cache.ResourceEventHandlerRegistration
	// pods are those of the workloads.
	pods *workloads.Watch
	// autoscalers are those that may refer to a Forecast.
	autoscalers *autoscalers.Watch
	// covers are the warm pools that stand ready for Forecasts; nil where there are none.
	covers Covers
	// forgetful: the API server dropped what is remembered from the newest status that was written. Its schema of a
	// Forecast is older than this process.
	forgetful atomic.Bool
	// fault is why the newest attempt to list or watch failed, nil once the list was read.
	fault atomic.Pointer[error]

	mu       sync.Mutex
	resolved map[snapshot.Key]*resolution
	// sorted is made of resolved when it is asked for; nil after a change. Those who got one keep it.
	sorted []refresh.Target
}

// NewObjects prepares to watch the Forecasts of all namespaces, the autoscalers that refer to them, and the pods of their
// workloads (all replicas do, so that a new leader has seen what it must count). Nothing is asked before Run.
func NewObjects(cluster *rest.Config, resolver *manifest.Resolver, log *slog.Logger) (*Objects, error) {
	own := rest.CopyConfig(cluster)
	// The status writer has its own limit; the client's default of 5 requests/s would be a second, hidden one.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for Forecasts: %w", err)
	}
	o := &Objects{
		resolver: resolver, log: log, client: client.Resource(resource()),
		informer: dynamicinformer.NewFilteredDynamicInformer(
			client, resource(), metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer(),
		resolved: map[snapshot.Key]*resolution{},
	}
	if o.pods, err = workloads.New(cluster, workloads.Config{}, o.workloads, log); err != nil {
		return nil, err
	}
	if o.autoscalers, err = autoscalers.New(cluster, autoscalers.Config{}, log); err != nil {
		return nil, err
	}
	if err = o.informer.SetWatchErrorHandlerWithContext(o.watchFailed); err != nil {
		return nil, fmt.Errorf("watch Forecasts: %w", err)
	}
	o.resolving, err = o.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    o.upsert,
		UpdateFunc: func(_, after any) { o.upsert(after) },
		DeleteFunc: o.remove,
	})
	if err != nil {
		return nil, fmt.Errorf("watch Forecasts: %w", err)
	}
	return o, nil
}

func resource() schema.GroupVersionResource {
	return v1alpha1.GroupVersion().WithResource("forecasts")
}

// Run watches until the context ends. A cluster that does not answer, or does not know the objects yet, is asked again
// with growing pauses; see Check. The autoscalers come first: a Forecast that is resolved before them would be learnt anew
// when they are known.
func (o *Objects) Run(ctx context.Context) error {
	const patience = 10 * time.Second
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { o.pods.Run(ctx) })
	running.Go(func() { o.autoscalers.Run(ctx) })
	o.autoscalers.Settle(ctx, patience)
	o.informer.RunWithContext(ctx)
	return nil
}

// Check is nil once the Forecasts have been read; else it says what is in the way.
func (o *Objects) Check() error {
	if o.resolving.HasSynced() {
		return nil
	}
	if fault := o.fault.Load(); fault != nil {
		return *fault
	}
	return errors.New("the Forecasts have not been read yet")
}

// Targets are the Forecasts of all namespaces at a time, in the order of their namespaces and names. The time decides
// which lead time is in use where one was announced.
func (o *Objects) Targets(now time.Time) []refresh.Target {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.resolved {
		if o.renew(r, now) {
			o.sorted = nil
		}
	}
	if o.sorted == nil {
		o.sorted = make([]refresh.Target, 0, len(o.resolved))
		for _, r := range o.resolved {
			o.sorted = append(o.sorted, r.target)
		}
		slices.SortFunc(o.sorted, func(a, b refresh.Target) int {
			return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Key.Name, b.Key.Name))
		})
	}
	return o.sorted
}

// at is what was resolved of a Forecast; the zero value for one that is not there.
func (o *Objects) at(key snapshot.Key) resolution {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.resolved[key]; r != nil {
		return *r
	}
	return resolution{}
}

// Scalings are the autoscalers by which a Forecast's value becomes replicas; none where it has none that counts, or is not
// there. Read only.
func (o *Objects) Scalings(key snapshot.Key) []decide.Scaling { return o.at(key).target.Scalings }

// list is every Forecast as the watch last saw it. Read only.
func (o *Objects) list() []*unstructured.Unstructured {
	stored := o.informer.GetStore().List()
	out := make([]*unstructured.Unstructured, 0, len(stored))
	for _, item := range stored {
		if object, ok := item.(*unstructured.Unstructured); ok {
			out = append(out, object)
		}
	}
	return out
}

// upsert takes in an object whose spec is new; a new status alone changes no generation, but may hold new starts.
func (o *Objects) upsert(item any) {
	object, ok := item.(*unstructured.Unstructured)
	if !ok {
		return
	}
	key := keyOf(object)
	o.mu.Lock()
	defer o.mu.Unlock()
	if before := o.resolved[key]; before != nil && before.of(object) {
		if before.read(object) {
			o.sorted = nil
		}
		return
	}
	r := o.resolve(key, object)
	if r.target.Invalid != "" {
		o.log.Warn("a Forecast is invalid", "forecast", key.String(), "problem", r.target.Invalid)
	}
	o.resolved[key] = r
	o.sorted = nil
	o.pods.Changed()
}

func (o *Objects) remove(item any) {
	name, err := cache.DeletionHandlingObjectToName(item)
	if err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.resolved, snapshot.Key{Namespace: name.Namespace, Name: name.Name})
	o.sorted = nil
	o.pods.Changed()
}

func keyOf(object *unstructured.Unstructured) snapshot.Key {
	return snapshot.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// watchFailed keeps the reason for Check and logs it; the informer tries again by itself.
func (o *Objects) watchFailed(ctx context.Context, _ *cache.Reflector, err error) {
	fault := fmt.Errorf("watch the Forecasts: %w", err)
	switch {
	case apierrors.IsNotFound(err):
		fault = fmt.Errorf("the cluster does not know %s: apply deploy/crds: %w", resource().GroupResource(), err)
	case apierrors.IsForbidden(err):
		fault = fmt.Errorf("the Forecasts must not be read: apply deploy/rbac: %w", err)
	}
	before := o.fault.Swap(&fault)
	if before == nil || (*before).Error() != fault.Error() {
		o.log.WarnContext(ctx, "the Forecasts cannot be watched, trying again", "error", fault)
	}
}
