package aggregation

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
	"github.com/forewarm/forewarm/pkg/kube/changes"
)

// Groups watches who owns the API groups. It is safe for concurrent use.
type Groups struct {
	own      Service
	log      *slog.Logger
	client   dynamic.ResourceInterface
	roles    dynamic.ResourceInterface // ClusterRoles
	informer cache.SharedIndexInformer

	mu     sync.Mutex
	owners GroupOwners // nil until known; never changed, but replaced
	// unavailable says why the kube-apiserver does not reach a group that leads here, by group. reached: it does reach one.
	unavailable map[string]string
	reached     bool
	refused     string // why it cannot be known
	changed     changes.Feed
}

// NewGroups returns a watch of the APIServices of a cluster for Forewarm's own service, NAMESPACE/NAME. It sends no
// requests before Run.
func NewGroups(cluster *rest.Config, own Service, log *slog.Logger) (*Groups, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("make a client for APIServices: %w", err)
	}
	return newGroups(client, own, log)
}

func newGroups(client dynamic.Interface, own Service, log *slog.Logger) (*Groups, error) {
	resource := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	w := &Groups{
		own: own, log: log, client: client.Resource(resource),
		roles: client.Resource(schema.GroupVersionResource{
			Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles",
		}),
		informer: dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer(),
	}
	if err := w.informer.SetTransform(trimObject); err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	if err := w.informer.SetWatchErrorHandlerWithContext(w.watchFailed); err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	_, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.refresh() },
		UpdateFunc: func(any, any) { w.refresh() },
		DeleteFunc: func(any) { w.refresh() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch APIServices: %w", err)
	}
	return w, nil
}

// trimObject keeps the fields of an APIService that are used: its certificate authorities may be long.
func trimObject(item any) (any, error) {
	object, ok := item.(*unstructured.Unstructured)
	if !ok {
		return item, nil
	}
	group, namespace, name := groupAndService(object)
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(object.GetAPIVersion())
	out.SetKind(object.GetKind())
	out.SetName(object.GetName())
	out.SetResourceVersion(object.GetResourceVersion())
	spec := map[string]any{"group": group, "service": map[string]any{"namespace": namespace, "name": name}}
	out.SetOwnerReferences(object.GetOwnerReferences())
	if slices.Contains(groups(), group) {
		before, _, err := unstructured.NestedMap(object.Object, "spec")
		if err != nil {
			return nil, fmt.Errorf("read the spec of APIService %s: %w", object.GetName(), err)
		}
		for _, field := range []string{caBundle, insecure} {
			if value, ok := before[field]; ok {
				spec[field] = value
			}
		}
	}
	out.Object["spec"] = spec
	if c := available(object); c != nil {
		out.Object["status"] = map[string]any{"conditions": []any{c}}
	}
	return out, nil
}

// available is the condition Available of an APIService: whether the kube-apiserver reaches its server. Nil where it has not tried.
func available(object *unstructured.Unstructured) map[string]any {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return nil
	}
	for _, item := range conditions {
		if c, ok := item.(map[string]any); ok && c["type"] == "Available" {
			return c
		}
	}
	return nil
}

// groupAndService returns the group of an APIService, and the namespace and name of the service behind it; missing
// fields are empty.
func groupAndService(object *unstructured.Unstructured) (group, namespace, name string) {
	text := func(path ...string) string {
		value, _, err := unstructured.NestedString(object.Object, path...)
		if err != nil {
			return ""
		}
		return value
	}
	return text("spec", "group"), text("spec", "service", "namespace"), text("spec", "service", "name")
}

// Run watches until the context ends. It retries with growing intervals; without the right to read, the owners stay
// unknown.
func (w *Groups) Run(ctx context.Context) error {
	w.informer.RunWithContext(ctx)
	return nil
}

// watchFailed records and logs why the owners are unknown, once for each error.
func (w *Groups) watchFailed(ctx context.Context, _ *cache.Reflector, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := err.Error(); w.refused != text && w.owners == nil {
		w.refused = text
		w.log.WarnContext(ctx, "the owners of the metrics API groups are unknown, retrying", "error", err)
	}
}

// refresh reads the owners again.
func (w *Groups) refresh() {
	holdings, away, reached := GroupOwners{}, map[string]string{}, false
	for _, item := range w.informer.GetStore().List() {
		object, ok := item.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if group, namespace, name := groupAndService(object); slices.Contains(groups(), group) && name != "" {
			service := Service(namespace + "/" + name)
			holdings.add(group, service)
			switch c := available(object); {
			case service != w.own || c == nil:
			case c["status"] == "True":
				reached = true
			case c["status"] == "False":
				away[group] = fmt.Sprintf("%v: %v", c["reason"], c["message"])
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners, w.unavailable, w.reached = holdings, away, reached
	w.changed.Notify()
}

// known returns the owners; nil while they are not all known. Read only.
func (w *Groups) known() GroupOwners {
	if !w.informer.HasSynced() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.owners
}

// Conditions returns the condition Reachable; none while the owners are unknown.
func (w *Groups) Conditions() []snapshot.Condition {
	holdings := w.known()
	if holdings == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return []snapshot.Condition{holdings.condition(w.own, w.unavailable)}
}

// Holds reports whether a group leads to Forewarm.
func (w *Groups) Holds(group string) bool { return w.known().ownedBy(group, w.own) }

// Reached reports whether the kube-apiserver reaches Forewarm by a group, so that some adapter replica is ready; true until that is known.
func (w *Groups) Reached() bool {
	read := w.informer.HasSynced()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached || !read && w.refused == ""
}

// ReportChanges emits an event about Forewarm's own service, and a log line, whenever the owner of a group changes,
// until the context ends. Only the leader should call it, or each replica emits one.
func (w *Groups) ReportChanges(ctx context.Context, events record.EventRecorder) {
	var before GroupOwners
	changed := changes.NewSignal()
	w.changed.Subscribe(ctx, changed)
	for {
		now := w.known()
		for _, c := range changesSince(before, now, w.own) {
			w.reportChange(ctx, events, c)
		}
		if now != nil {
			before = now
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Groups) reportChange(ctx context.Context, events record.EventRecorder, c change) {
	kind, reason, level := core.EventTypeNormal, "APIServiceHeld", slog.LevelInfo
	switch {
	case c.lost:
		kind, reason, level = core.EventTypeWarning, "APIServiceTaken", slog.LevelWarn
	case !c.gained:
		reason = "APIServiceMoved"
	}
	w.log.Log(ctx, level, "the owner of an API group changed", "group", c.group, "now", c.message)
	events.Event(w.object(), kind, reason, c.message)
}

// object returns Forewarm's own service, which the events are about.
func (w *Groups) object() runtime.Object {
	namespace, name, _ := split(w.own)
	return &core.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: name}
}

var _ prometheus.Collector = (*Groups)(nil)

// ownedDesc is 1 where all versions of a group lead to Forewarm.
var ownedDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_api_group_held", "Whether the API group leads to this forewarm's service (1) or elsewhere (0).",
	[]string{"group"}, nil)

// availableDesc is 1 where the kube-apiserver reaches Forewarm by a group.
var availableDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_api_group_available",
	"Whether the kube-apiserver reaches this forewarm's service by the API group (1) or not (0); absent for groups that lead elsewhere.",
	[]string{"group"},
	nil,
)

// Describe implements prometheus.Collector.
func (*Groups) Describe(out chan<- *prometheus.Desc) {
	out <- ownedDesc
	out <- availableDesc
}

// Collect sends a gauge for each group; none while the owners are unknown.
func (w *Groups) Collect(out chan<- prometheus.Metric) {
	holdings := w.known()
	if holdings == nil {
		return
	}
	w.mu.Lock()
	away := w.unavailable
	w.mu.Unlock()
	send := func(desc *prometheus.Desc, is bool, group string) {
		value := 0.0
		if is {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, group)
	}
	for _, group := range groups() {
		held := holdings.ownedBy(group, w.own)
		send(ownedDesc, held, group)
		if held {
			send(availableDesc, away[group] == "", group)
		}
	}
}
