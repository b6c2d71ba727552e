package warmpools

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

// Watch sees the pools of all namespaces. Each is decoded by itself, so that one that does not fit its type costs itself
// and not the list. It is safe for concurrent use.
type Watch struct {
	log    *slog.Logger
	client dynamic.NamespaceableResourceInterface
	// informer keeps each object as a *Pool.
	informer cache.SharedIndexInformer
	reading  cache.ResourceEventHandlerRegistration
	// fault is why the newest attempt to list or watch failed.
	fault atomic.Pointer[error]
}

// byCovered is the index of the pools by the Forecasts that they cover.
const byCovered = "covered"

// NewWatch prepares to watch the pools. Nothing is asked before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	own := rest.CopyConfig(cluster)
	// The controller has a limit of its own; the client's default of 5 requests/s would be a second, hidden one.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for WarmPools: %w", err)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(
		client, resource(), metav1.NamespaceAll, 0, cache.Indexers{byCovered: covered}, nil).Informer()
	w := &Watch{log: log, client: client.Resource(resource()), informer: informer}
	w.reading, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(after any) { w.judge(nil, after) },
		UpdateFunc: w.judge,
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
	pools := asPools(w.informer.GetStore().List())
	slices.SortFunc(pools, func(a, b *Pool) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return pools
}

// Covered says which pool stands ready for a Forecast, and from when on, as the leader last wrote it. Of several that cover
// one, which only lasts for a moment, the oldest counts.
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

// covered are the Forecasts that a pool covers, for the index.
func covered(item any) ([]string, error) {
	var out []string
	for _, p := range asPools([]any{item}) {
		for _, c := range p.Status.Covered {
			out = append(out, p.member(c.Forecast).String())
		}
	}
	return out, nil
}

// asPool is what the informer keeps of an object.
func asPool(item any) (any, error) {
	if object, ok := item.(*unstructured.Unstructured); ok {
		return read(object), nil
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

// judge logs what is wrong with a pool when it becomes so.
func (w *Watch) judge(before, after any) {
	p, ok := after.(*Pool)
	if last, known := before.(*Pool); !ok || p.Problem == "" || known && last.Problem == p.Problem {
		return
	}
	w.log.Warn("a WarmPool is invalid", "pool", p.key().String(), "problem", p.Problem)
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
