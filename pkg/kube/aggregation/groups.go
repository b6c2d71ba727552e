package aggregation

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// Groups watches who owns the API groups. It is safe for concurrent use.
type Groups struct {
	own    Service
	log    *slog.Logger
	client dynamic.ResourceInterface
	roles  dynamic.ResourceInterface // ClusterRoles
	watch  *informer.Watch[apiService]

	mu     sync.Mutex
	owners GroupOwners // nil until known; never changed, but replaced
	// unavailable says for each group that leads here why the kube-apiserver cannot reach it. reached is true if it can reach at least one.
	unavailable map[string]string
	reached     bool
	changed     changes.Feed
}

// NewGroups returns a watch of the APIServices of a cluster for Forewarm's own service, NAMESPACE/NAME. It sends no
// requests before Run.
func NewGroups(cluster *rest.Config, own Service, log *slog.Logger) (*Groups, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create a client for APIServices: %w", err)
	}
	return newGroups(client, own, log), nil
}

func newGroups(client dynamic.Interface, own Service, log *slog.Logger) *Groups {
	resource := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	w := &Groups{
		own: own, log: log, client: client.Resource(resource),
		roles: client.Resource(schema.GroupVersionResource{
			Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles",
		}),
	}
	w.watch = informer.New(informer.From(w.client, client, ""), read, informer.Config[apiService]{
		Name: "APIServices", Advice: "apply deploy/default, or upgrade the chart",
		Changed: func(_, _ *apiService) { w.refresh() }, Listed: w.refresh,
		Failed: func(ctx context.Context, problem *informer.ReadError) {
			if w.known() == nil {
				log.WarnContext(
					ctx,
					"cannot find out which services serve the metrics API groups, retrying",
					"error",
					problem,
				)
			}
		},
	})
	return w
}

// Run watches until the context ends. It retries with growing intervals; without the right to read, the owners stay
// unknown.
func (w *Groups) Run(ctx context.Context) error {
	return w.watch.Run(ctx)
}

// refresh reads the owners again.
func (w *Groups) refresh() {
	holdings, away, reached := GroupOwners{}, map[string]string{}, false
	for _, a := range w.watch.List() {
		if a.service == "" {
			continue
		}
		holdings.add(a.group, a.service)
		if a.service != w.own {
			continue
		}
		reached = reached || a.available
		if a.unavailable != "" {
			away[a.group] = a.unavailable
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners, w.unavailable, w.reached = holdings, away, reached
	w.changed.Notify()
}

// known returns the owners, or nil until all of them are known. Callers must not modify the result.
func (w *Groups) known() GroupOwners {
	if w.watch.Check() != nil {
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

// Reached reports whether the kube-apiserver reaches Forewarm by a group, so that some adapter replica is ready; true until that is
// known, or known not to be knowable.
func (w *Groups) Reached() bool {
	if w.watch.Check() != nil {
		return w.watch.Problem() == nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
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
	w.log.Log(ctx, level, "an API group now leads to another service", "group", c.group, "now", c.message)
	events.Event(w.object(), kind, reason, c.message)
}

// object returns Forewarm's own service, the object of the events.
func (w *Groups) object() runtime.Object {
	namespace, name, _ := split(w.own)
	return &core.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: name}
}

var _ prometheus.Collector = (*Groups)(nil)

// ownedDesc describes the metric that is 1 if all versions of a group lead to Forewarm.
var ownedDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_api_group_held", "1 if the API group points to Forewarm, 0 if it points to another server.",
	[]string{"group"}, nil)

// availableDesc describes the metric that is 1 if the kube-apiserver reaches Forewarm through a group.
var availableDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_api_group_available",
	"1 if the kube-apiserver reaches Forewarm through the API group, 0 if it does not. Absent for groups that point to another server.",
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
