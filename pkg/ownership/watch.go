package ownership

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Watch knows who holds the groups. It is safe for concurrent use.
type Watch struct {
	own      Service
	log      *slog.Logger
	informer cache.SharedIndexInformer

	mu       sync.Mutex
	holdings Holdings // nil until known
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
		informer: dynamicinformer.NewFilteredDynamicInformer(client, resource, metav1.NamespaceAll, 0, cache.Indexers{},
			nil).Informer(),
	}
	if err = w.informer.SetTransform(strip); err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	if err = w.informer.SetWatchErrorHandlerWithContext(w.failed); err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	_, err = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.look() },
		UpdateFunc: func(any, any) { w.look() },
		DeleteFunc: func(any) { w.look() },
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
	group, service := read(object)
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(object.GetAPIVersion())
	out.SetKind(object.GetKind())
	out.SetName(object.GetName())
	out.SetResourceVersion(object.GetResourceVersion())
	out.Object["spec"] = map[string]any{"group": group, "service": map[string]any{
		"namespace": service.namespace, "name": service.name,
	}}
	return out, nil
}

type reference struct{ namespace, name string }

// read is the group of an APIService and the service behind it; fields that are not there are empty.
func read(object *unstructured.Unstructured) (group string, service reference) {
	text := func(path ...string) string {
		value, found, err := unstructured.NestedString(object.Object, path...)
		if err != nil || !found {
			return ""
		}
		return value
	}
	return text("spec", "group"), reference{text("spec", "service", "namespace"), text("spec", "service", "name")}
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
		if group, service := read(object); slices.Contains(groups(), group) && service.name != "" {
			holdings.add(group, Service(service.namespace+"/"+service.name))
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

// known is a copy of the holders, nil while they are not all known.
func (w *Watch) known() Holdings {
	if !w.informer.HasSynced() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holdings.clone()
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
