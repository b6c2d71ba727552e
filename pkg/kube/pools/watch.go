package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Watch watches the pools of all namespaces. Each is decoded by itself, so that one that does not fit its type does
// not affect the others. It is safe for concurrent use.
type Watch struct {
	log    *slog.Logger
	client dynamic.NamespaceableResourceInterface
	// informer keeps each object as a *Pool.
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
	// err is why the newest attempt to list or watch failed.
	err atomic.Pointer[error]
}

// byCovered indexes the pools by the Forecasts that they cover.
const byCovered = "covered"

// NewWatch returns a watch of the pools. It sends no requests before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	own := rest.CopyConfig(cluster)
	// The controller has a limit of its own. The client's default of 5 requests/s would be a hidden second one.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for WarmPools: %w", err)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(
		client, resource(), metav1.NamespaceAll, 0, cache.Indexers{byCovered: indexCovered}, nil).Informer()
	w := &Watch{log: log, client: client.Resource(resource()), informer: informer}
	w.handler, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(after any) { w.logInvalid(nil, after) },
		UpdateFunc: w.logInvalid,
	})
	err = errors.Join(err, informer.SetTransform(asPool), informer.SetWatchErrorHandlerWithContext(w.watchFailed))
	if err != nil {
		return nil, fmt.Errorf("watch WarmPools: %w", err)
	}
	return w, nil
}

func resource() schema.GroupVersionResource {
	return v1alpha1.GroupVersion().WithResource("warmpools")
}

// Run watches until the context ends. In a cluster without the resource it retries with growing intervals, so that
// pools work once the CRD is installed.
func (w *Watch) Run(ctx context.Context) error {
	w.informer.RunWithContext(ctx)
	return nil
}

// WaitForSync waits until the pools were read, or could not be read, or until a timeout.
func (w *Watch) WaitForSync(ctx context.Context, patience time.Duration) {
	const glance = 20 * time.Millisecond
	//nolint:errcheck // The caller continues in any case.
	_ = wait.PollUntilContextTimeout(ctx, glance, patience, true, func(context.Context) (bool, error) {
		return w.handler.HasSynced() || w.err.Load() != nil, nil
	})
}

// Check returns nil once the pools were read, else the error. Forewarm works without pools.
func (w *Watch) Check() error {
	if w.handler.HasSynced() {
		return nil
	}
	if fault := w.err.Load(); fault != nil {
		return *fault
	}
	return errors.New("the WarmPools have not been read yet")
}

// List returns the pools of all namespaces, in the order of their namespaces and names. Read only.
func (w *Watch) List() []*Pool {
	pools := asPools(w.informer.GetStore().List())
	slices.SortFunc(pools, func(a, b *Pool) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return pools
}

// Covered returns the pool that covers a Forecast, and since when, as the leader last wrote it. If several cover it,
// which is transient, the oldest counts.
func (w *Watch) Covered(namespace, forecast string) (pool string, since time.Time, ok bool) {
	found, err := w.informer.GetIndexer().
		ByIndex(byCovered, snapshot.Key{Namespace: namespace, Name: forecast}.String())
	if err != nil || len(found) == 0 {
		return "", time.Time{}, false
	}
	oldest := slices.MinFunc(asPools(found), byAge)
	i := slices.IndexFunc(oldest.Status.Covered, func(c v1alpha1.Cover) bool { return c.Forecast == forecast })
	return oldest.Name, oldest.Status.Covered[i].Since.Time, true
}

// indexCovered returns the Forecasts that a pool covers, for the index.
func indexCovered(item any) ([]string, error) {
	var out []string
	for _, p := range asPools([]any{item}) {
		for _, c := range p.Status.Covered {
			out = append(out, p.memberKey(c.Forecast).String())
		}
	}
	return out, nil
}

// asPool decodes an object for the informer.
func asPool(item any) (any, error) {
	if object, ok := item.(*unstructured.Unstructured); ok {
		return newPool(object), nil
	}
	return item, nil
}

func asPools(items []any) []*Pool {
	pools := make([]*Pool, 0, len(items))
	for _, item := range items {
		if p, ok := item.(*Pool); ok {
			pools = append(pools, p)
		}
	}
	return pools
}

// logInvalid logs the problems of a pool when they change.
func (w *Watch) logInvalid(before, after any) {
	p, ok := after.(*Pool)
	if last, known := before.(*Pool); !ok || p.Problem == "" || known && last.Problem == p.Problem {
		return
	}
	w.log.Warn("a WarmPool is invalid", "pool", p.key().String(), "problem", p.Problem)
}

// watchFailed records and logs why pools cannot be read, once for each reason. The informer retries.
func (w *Watch) watchFailed(ctx context.Context, _ *cache.Reflector, err error) {
	fault := fmt.Errorf("watch the WarmPools: %w", err)
	level := slog.LevelWarn
	switch {
	case apierrors.IsNotFound(err):
		// This cluster uses Forecasts only.
		level = slog.LevelInfo
		fault = fmt.Errorf(
			"the cluster does not have %s: apply deploy/default, or upgrade the chart, to use warm pools: %w",
			resource().GroupResource(), err)
	case apierrors.IsForbidden(err):
		fault = fmt.Errorf("cannot read WarmPools: apply deploy/default, or upgrade the chart: %w", err)
	}
	before := w.err.Swap(&fault)
	if before == nil || (*before).Error() != fault.Error() {
		w.log.Log(ctx, level, "warm pools are off", "reason", fault)
	}
}
