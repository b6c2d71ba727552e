// Package demandevents watches the DemandEvents of a cluster, provides them to the Forecasts that they apply to, and writes their
// status.
package demandevents

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Watch watches the DemandEvents of all namespaces. Each is decoded by itself, so that one that does not fit its type does not affect the
// others. It is safe for concurrent use.
type Watch struct {
	*informer.Watch[object]

	log     *slog.Logger
	client  dynamic.NamespaceableResourceInterface
	changed changes.Feed

	mu sync.Mutex
	// lists caches the events of each Forecast, by namespace and name. A change in a namespace clears the lists of that namespace.
	lists map[string]map[string][]calendar.Event
}

// object is a stored DemandEvent without its spec.
type object struct {
	*unstructured.Unstructured

	event manifest.DemandEvent
	// problem says why no Forecast uses the event, and reason is the condition's reason. Both are empty if this depends on the Forecasts.
	problem, reason string
	// spec is the condition about fields that Forewarm or the cluster does not know; nil if there are none.
	spec *metav1.Condition
}

// maxPerNamespace limits how many DemandEvents of a namespace are kept. A Forecast uses at most manifest.MaxEvents of them.
const maxPerNamespace = 500

// NewWatch returns a watch. It sends no requests before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	client, err := dynamic.NewForConfig(informer.Slim(cluster))
	if err != nil {
		return nil, fmt.Errorf("create a client for DemandEvents: %w", err)
	}
	w := &Watch{
		log:    log,
		client: client.Resource(v1alpha1.GroupVersion().WithResource("demandevents")),
		lists:  map[string]map[string][]calendar.Event{},
	}
	w.Watch = informer.New(informer.From(w.client, client, ""), decode, informer.Config[object]{
		Name: "DemandEvents", Advice: "upgrade the chart with demandEvents.enabled", Changed: w.observe,
		Index: func(o *object) []string { return []string{o.GetNamespace()} },
		Bound: &informer.Bound[object]{
			Limit: maxPerNamespace, Compare: informer.CompareAge[*object], Stub: tooMany, Get: informer.GetBy(w.client),
		},
		Failed: func(ctx context.Context, problem *informer.ReadError) {
			log.WarnContext(ctx, "DemandEvents have no effect, because Forewarm cannot read them", "reason", problem)
		},
	})
	return w, nil
}

// Changes notifies of each change.
func (w *Watch) Changes() *changes.Feed { return &w.changed }

// Of returns the events of a Forecast, the oldest first. The list is the same one while nothing changes. Read only.
func (w *Watch) Of(key snapshot.Key) []calendar.Event {
	w.mu.Lock() // The index has the change before its handler clears the list.
	defer w.mu.Unlock()
	found := w.Indexed(key.Namespace)
	if len(found) == 0 {
		return nil
	}
	if known, ok := w.lists[key.Namespace][key.Name]; ok {
		return known
	}
	var events []calendar.Event
	slices.SortFunc(found, informer.CompareAge)
	for _, o := range found {
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

// isOf reports whether an event applies to a Forecast: it lists the Forecast, or it lists none.
func (o *object) isOf(forecast string) bool {
	return len(o.event.Forecasts) == 0 || slices.Contains(o.event.Forecasts, forecast)
}

// decode decodes an object.
func decode(stored *unstructured.Unstructured) *object {
	out := &object{
		Unstructured: informer.WithoutSpec(stored), reason: reasonInvalid,
		spec: writes.CheckSpec(stored, &v1alpha1.DemandEvent{}),
	}
	if out.problem = informer.SpecProblem(stored); out.problem != "" {
		return out
	}
	var read v1alpha1.DemandEvent
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &read); err != nil {
		out.problem = "is not a DemandEvent of " + v1alpha1.GroupVersion().String() + ": " + err.Error()
		return out
	}
	event, problems := manifest.ResolveDemandEvent(read.Name, &read.Spec)
	out.event, out.problem = event, manifest.JoinProblems(problems)
	return out
}

// tooMany returns the object to keep if the namespace has too many.
func tooMany(o *object) *object {
	return &object{Unstructured: o.Unstructured, spec: o.spec, reason: reasonTooMany, problem: fmt.Sprintf(
		"the namespace already has %d older DemandEvents, and Forewarm reads no more than that: delete events that are over, or "+
			"combine events of the same name into one with several times in alsoOn",
		maxPerNamespace,
	)}
}

func (w *Watch) observe(before, after *object) {
	switch {
	case after == nil:
		w.forget(before.GetNamespace())
		return
	case before != nil && before.GetGeneration() == after.GetGeneration() && before.GetUID() == after.GetUID() &&
		before.problem == after.problem:
		return
	case after.problem != "":
		name := after.GetNamespace() + "/" + after.GetName()
		w.log.Warn("a DemandEvent is invalid", "event", name, "problem", after.problem)
	}
	w.forget(after.GetNamespace())
}

func (w *Watch) forget(namespace string) {
	w.mu.Lock()
	delete(w.lists, namespace)
	w.mu.Unlock()
	w.changed.Notify()
}
