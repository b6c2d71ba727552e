package forecasts

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Objects are the Forecasts of a cluster. Each is decoded by itself, so that one that does not fit its type (stored
// under another schema) does not affect the others.
type Objects struct {
	resolver *manifest.Resolver
	log      *slog.Logger
	client   dynamic.NamespaceableResourceInterface
	watch    *informer.Watch[stored]
	// bound limits the objects that the watch keeps.
	bound informer.Bound[stored]
	// pods watches the pods of the workloads.
	pods *workloads.Watch
	// autoscalers watches the autoscalers that refer to Forecasts.
	autoscalers *autoscalers.Watch
	// covers has the warm pools that cover Forecasts; nil if there are no pools.
	covers Covers
	// events has the events of each namespace; nil if they are not watched.
	events EventSource
	// fleets has the fleets of which Forecasts are members; nil if they are not watched.
	fleets Fleets
	// externalHeld reports whether Forewarm serves External metrics.
	externalHeld func() bool
	// limits apply to each namespace.
	limits Limits
	// fieldsDropped is true if the API server dropped fields of the last status that was written. Then the CRD is older than this process.
	fieldsDropped atomic.Bool

	// changed is notified when an object is paused, resumed or changed.
	changed changes.Signal

	mu       sync.Mutex
	resolved map[snapshot.Key]*resolution
	// sorted has the jobs in resolved, or nil after a change. It is never modified.
	sorted []refresh.Job
	// holders has the Forecast that answers under each alias in resolved; nil after an object has changed.
	holders map[snapshot.Key]snapshot.Key
	// revision is the revision of the resolver that made resolved.
	revision uint64
}

// NewObjects returns a watch of the Forecasts of all namespaces, the autoscalers that refer to them, and the pods of
// their workloads. All replicas watch the pods, so that a new leader has seen the starts that it must count. It sends
// no requests before Run.
func NewObjects(cluster *rest.Config, resolver *manifest.Resolver, log *slog.Logger) (*Objects, error) {
	own := informer.Slim(cluster)
	// The status writer has its own rate limit. The client's default of 5 requests/s would be a second, hidden limit.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for Forecasts: %w", err)
	}
	o := &Objects{
		resolver: resolver, log: log, client: client.Resource(v1alpha1.GroupVersion().WithResource("forecasts")),
		resolved: map[snapshot.Key]*resolution{}, revision: resolver.Revision(),
		externalHeld: func() bool { return false }, changed: changes.NewSignal(),
	}
	if o.pods, err = workloads.New(cluster, workloads.Config{}, o.workloads, log); err != nil {
		return nil, err
	}
	if o.autoscalers, err = autoscalers.New(cluster, autoscalers.Config{}, log); err != nil {
		return nil, err
	}
	o.bound = informer.Bound[stored]{Compare: byPlace, Stub: withoutSpec, Get: informer.GetBy(o.client)}
	o.watch = informer.New(informer.From(o.client, client, ""), newStored, informer.Config[stored]{
		Name: "Forecasts", Advice: "apply deploy/default, or upgrade the chart", Changed: o.observe, Bound: &o.bound,
		Failed: func(ctx context.Context, problem *informer.ReadError) {
			log.WarnContext(ctx, "cannot watch Forecasts, retrying", "error", problem)
		},
	})
	return o, nil
}

// stored is a Forecast as the watch stores it.
type stored struct {
	*unstructured.Unstructured

	// spec is the condition about fields that Forewarm or the cluster does not know; nil if there are none.
	spec *metav1.Condition
}

func newStored(object *unstructured.Unstructured) *stored {
	return &stored{object, writes.CheckSpec(object, &v1alpha1.Forecast{})}
}

// withoutSpec returns what is kept of an object that exceeds the limit of its namespace.
func withoutSpec(object *stored) *stored {
	return &stored{informer.WithoutSpec(object.Unstructured), object.spec}
}

// Run watches until the context ends. While the cluster does not answer, or does not have the CRD, it retries with
// growing intervals; see Check. It reads the autoscalers first: a Forecast that is resolved before them would be
// rebuilt when they are known.
func (o *Objects) Run(ctx context.Context) error {
	const patience = 10 * time.Second
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { o.pods.Run(ctx) })
	running.Go(func() { o.autoscalers.Run(ctx) })
	o.autoscalers.WaitForSync(ctx, patience)
	return o.watch.Run(ctx)
}

// Check returns nil once the Forecasts were read, else the error.
func (o *Objects) Check() error { return o.watch.Check() }

// List returns the Forecasts of all namespaces, in the order of their namespaces and names. An announced lead time
// is used from its time on.
func (o *Objects) List(now time.Time) []refresh.Job {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resolveAgain()
	for _, r := range o.resolved {
		if o.refresh(r, now) {
			o.sorted = nil
		}
	}
	if o.sorted == nil {
		o.sorted = o.limits.limited(slices.Collect(maps.Values(o.resolved)))
		slices.SortFunc(o.sorted, func(a, b refresh.Job) int {
			return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Key.Name, b.Key.Name))
		})
	}
	return o.sorted
}

// resolveAgain resolves all objects again if the resolver has changed because a source was granted or revoked.
func (o *Objects) resolveAgain() {
	revision := o.resolver.Revision()
	if revision == o.revision {
		return
	}
	o.revision, o.sorted, o.holders = revision, nil, nil
	for _, object := range o.watch.List() {
		key := keyOf(object)
		before, after := o.resolved[key], o.resolve(key, object.Unstructured)
		if after.target.Invalid != "" && (before == nil || before.target.Invalid != after.target.Invalid) {
			o.log.Warn("a Forecast is invalid", "forecast", key.String(), "problem", after.target.Invalid)
		}
		o.resolved[key] = after
	}
	o.pods.Changed()
}

// resolutionOf returns the resolution of a Forecast, or the zero value if the Forecast does not exist.
func (o *Objects) resolutionOf(key snapshot.Key) resolution {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.resolved[key]; r != nil {
		return *r
	}
	return resolution{}
}

// Autoscalers returns the autoscalers that turn a Forecast's value into replicas; none if it has none, or does not
// exist. Read only.
func (o *Objects) Autoscalers(key snapshot.Key) []decide.Autoscaler {
	return o.resolutionOf(key).target.Autoscalers
}

// observe resolves an object if its spec is new. A new status does not change the generation, but may contain new starts.
func (o *Objects) observe(before, object *stored) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if object == nil {
		delete(o.resolved, keyOf(before))
		o.sorted, o.holders = nil, nil
		o.pods.Changed()
		return
	}
	key := keyOf(object)
	if last := o.resolved[key]; last != nil && last.matches(object.Unstructured) {
		if last.readStatus(object.Unstructured) {
			o.sorted = nil
		}
		return
	}
	r := o.resolve(key, object.Unstructured)
	if r.target.Invalid != "" {
		o.log.Warn("a Forecast is invalid", "forecast", key.String(), "problem", r.target.Invalid)
	}
	o.resolved[key] = r
	o.sorted, o.holders = nil, nil
	o.pods.Changed()
	o.changed.Enqueue()
}

// Changed is notified when Targets has an object with another spec or pause. It has one listener.
func (o *Objects) Changed() changes.Signal { return o.changed }

func keyOf(object metav1.Object) snapshot.Key {
	return snapshot.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
}
