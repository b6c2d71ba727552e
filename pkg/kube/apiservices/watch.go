// Package apiservices watches to whom the API groups of a cluster lead. A group like external.metrics.k8s.io has one owner
// in a cluster, the server behind its APIService; KEDA's chart takes that one, and whoever applies another manifest takes
// it from its owner without a word. Forewarm takes none: it says who holds them, in every Forecast's status, and where
// one changes hands, in an event and the log.
package apiservices

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Watch knows who holds the groups. It is safe for concurrent use.
type Watch struct {
	own      Service
	log      *slog.Logger
	informer cache.SharedIndexInformer

	mu       sync.Mutex
	holdings Holdings // nil until known; never changed, but replaced
	refused  string   // why it cannot be known
	changed  chan struct{}
}

// New prepares to watch the APIServices of a cluster for one's own service, NAMESPACE/NAME. Nothing is asked before Run.
func New(cluster *rest.Config, own Service, log *slog.Logger) (*Watch, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("make a client for APIServices: %w", err)
	}
	resource := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	w := &Watch{
		own: own, log: log, changed: make(chan struct{}, 1),
		informer: dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer(),
	}
	if err = w.informer.SetTransform(strip); err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	if err = w.informer.SetWatchErrorHandlerWithContext(w.failed); err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	_, err = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.look() }, UpdateFunc: func(any, any) { w.look() }, DeleteFunc: func(any) { w.look() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	return w, nil
}

// strip keeps of an APIService what is looked at: its certificate authorities may be long.
func strip(item any) (any, error) {
	object, ok := item.(*unstructured.Unstructured)
	if !ok {
		return item, nil
	}
	group, namespace, name := read(object)
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(object.GetAPIVersion())
	out.SetKind(object.GetKind())
	out.SetName(object.GetName())
	out.SetResourceVersion(object.GetResourceVersion())
	out.Object["spec"] = map[string]any{"group": group, "service": map[string]any{"namespace": namespace, "name": name}}
	return out, nil
}

// read is the group of an APIService, and the namespace and name of the service behind it; fields that are not there are
// empty.
func read(object *unstructured.Unstructured) (group, namespace, name string) {
	text := func(path ...string) string {
		value, _, err := unstructured.NestedString(object.Object, path...)
		if err != nil {
			return ""
		}
		return value
	}
	return text("spec", "group"), text("spec", "service", "namespace"), text("spec", "service", "name")
}

// Run watches until the context ends. A cluster that does not answer is asked again with growing pauses; one that
// refuses leaves the holders unknown.
func (w *Watch) Run(ctx context.Context) error {
	w.informer.RunWithContext(ctx)
	return nil
}

// failed notes that the watch is refused, and says so once.
func (w *Watch) failed(ctx context.Context, _ *cache.Reflector, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := err.Error(); w.refused != text && w.holdings == nil {
		w.refused = text
		w.log.WarnContext(ctx, "who holds the API groups is not known, trying again", "error", err)
	}
}

// look reads the holders anew.
func (w *Watch) look() {
	holdings := Holdings{}
	for _, item := range w.informer.GetStore().List() {
		object, ok := item.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if group, namespace, name := read(object); slices.Contains(groups(), group) && name != "" {
			holdings.add(group, Service(namespace+"/"+name))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holdings = holdings
	select {
	case w.changed <- struct{}{}:
	default: // One is on its way already.
	}
}

// known are the holders, nil while they are not all known. Read only.
func (w *Watch) known() Holdings {
	if !w.informer.HasSynced() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holdings
}

// Conditions are what a Forecast's status says of the way to it; none while it is not known.
func (w *Watch) Conditions() []snapshot.Condition {
	holdings := w.known()
	if holdings == nil {
		return nil
	}
	return []snapshot.Condition{holdings.condition(w.own)}
}

// Tell records an event about forewarm's own service, and logs, whenever a group changes hands, until the context ends.
// Only the leader should, or an event comes from each replica.
func (w *Watch) Tell(ctx context.Context, events record.EventRecorder) {
	var before Holdings
	for {
		now := w.known()
		for _, c := range changes(before, now, w.own) {
			w.tell(ctx, events, c)
		}
		if now != nil {
			before = now
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watch) tell(ctx context.Context, events record.EventRecorder, c change) {
	kind, reason, level := core.EventTypeNormal, "APIServiceHeld", slog.LevelInfo
	switch {
	case c.lost:
		kind, reason, level = core.EventTypeWarning, "APIServiceTaken", slog.LevelWarn
	case !c.gained:
		reason = "APIServiceMoved"
	}
	w.log.Log(ctx, level, "an API group has changed hands", "group", c.group, "now", c.words)
	events.Event(w.object(), kind, reason, c.words)
}

// object is forewarm's own service, which its events are about.
func (w *Watch) object() runtime.Object {
	namespace, name, _ := cut(w.own)
	return &core.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: name}
}

var _ prometheus.Collector = (*Watch)(nil)

// held is 1 where a group leads to forewarm in all of its versions.
var held = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_api_group_held", "Whether the API group leads to this forewarm's service (1) or elsewhere (0).",
	[]string{"group"}, nil)

// Describe implements prometheus.Collector.
func (*Watch) Describe(out chan<- *prometheus.Desc) { out <- held }

// Collect sends a gauge for each group; none while the holders are not known.
func (w *Watch) Collect(out chan<- prometheus.Metric) {
	holdings := w.known()
	if holdings == nil {
		return
	}
	for _, group := range groups() {
		value := 0.0
		if holdings.holds(group, w.own) {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(held, prometheus.GaugeValue, value, group)
	}
}
