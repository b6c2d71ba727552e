package fleets

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Watch watches the GPUFleets of all namespaces. Each is decoded by itself, so that one that does not fit its type does not affect the
// others. It is safe for concurrent use.
type Watch struct {
	*informer.Watch[Fleet]

	log    *slog.Logger
	client dynamic.NamespaceableResourceInterface
}

// Fleet is a stored GPUFleet. It is read-only.
type Fleet struct {
	*v1alpha1.GPUFleet

	Resolved manifest.ResolvedFleet
	// Problem is what is wrong with the object; empty if it is valid.
	Problem string
	// spec is the condition about fields that Forewarm or the cluster does not know; nil if there are none.
	spec *metav1.Condition
}

// maxPerNamespace limits how many fleets of a namespace are kept.
const maxPerNamespace = 20

// NewWatch returns a watch. It sends no requests before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	client, err := dynamic.NewForConfig(informer.Slim(cluster))
	if err != nil {
		return nil, fmt.Errorf("create a client for GPUFleets: %w", err)
	}
	w := &Watch{log: log, client: client.Resource(v1alpha1.GroupVersion().WithResource("gpufleets"))}
	w.Watch = informer.New(informer.From(w.client, client, ""), newFleet, informer.Config[Fleet]{
		Name: "GPUFleets", Advice: "upgrade the chart with fleets.enabled", Index: memberKeys, Changed: w.logInvalid,
		Bound: &informer.Bound[Fleet]{
			Limit: maxPerNamespace, Compare: informer.CompareAge[*Fleet], Stub: tooMany, Get: informer.GetBy(w.client),
		},
		Failed: func(ctx context.Context, problem *informer.ReadError) {
			log.WarnContext(ctx, "Forewarm does not plan GPUFleets, because it cannot read them", "reason", problem)
		},
	})
	return w, nil
}

// List returns the fleets of all namespaces, in the order of their namespaces and names. Read only.
func (w *Watch) List() []*Fleet {
	fleets := w.Watch.List()
	slices.SortFunc(fleets, func(a, b *Fleet) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return fleets
}

// HasMember reports whether a valid fleet lists a Forecast.
func (w *Watch) HasMember(forecast snapshot.Key) bool { return w.Oldest(forecast) != nil }

// Oldest returns the oldest valid fleet that lists a Forecast; nil if there is none.
func (w *Watch) Oldest(forecast snapshot.Key) *Fleet {
	found := w.Indexed(forecast.String())
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, informer.CompareAge)
}

// memberKeys returns the Forecasts that a valid fleet lists, as keys of the index.
func memberKeys(f *Fleet) []string {
	if f.Problem != "" {
		return nil
	}
	out := make([]string, len(f.Resolved.Members))
	for i, m := range f.Resolved.Members {
		out[i] = f.memberKey(m.Forecast).String()
	}
	return out
}

func (f *Fleet) key() snapshot.Key { return snapshot.Key{Namespace: f.Namespace, Name: f.Name} }

// memberKey returns the key of a Forecast in the fleet's namespace.
func (f *Fleet) memberKey(forecast string) snapshot.Key {
	return snapshot.Key{Namespace: f.Namespace, Name: forecast}
}

// newFleet decodes a fleet.
func newFleet(object *unstructured.Unstructured) *Fleet {
	f := &Fleet{GPUFleet: &v1alpha1.GPUFleet{}, spec: writes.CheckSpec(object, &v1alpha1.GPUFleet{})}
	v1alpha1.ReadStatus(object, &f.Status)
	if f.Problem = informer.SpecProblem(object); f.Problem == "" {
		if decoded, err := manifest.FleetFromObject(object.Object); err != nil {
			f.Problem = err.Error()
		} else {
			resolved, problems := manifest.ResolveFleet(decoded)
			f.Resolved, f.Problem = resolved, manifest.JoinProblems(problems)
			f.Spec = resolved.Object.Spec
			f.Resolved.Object = nil // The spec is already in the fleet.
		}
	}
	f.Namespace, f.Name, f.UID = object.GetNamespace(), object.GetName(), object.GetUID()
	f.Generation, f.ResourceVersion = object.GetGeneration(), object.GetResourceVersion()
	f.CreationTimestamp = object.GetCreationTimestamp()
	f.APIVersion, f.Kind = v1alpha1.GroupVersion().String(), v1alpha1.GPUFleetKind
	return f
}

// tooMany returns the fleet to keep if the namespace has too many.
func tooMany(f *Fleet) *Fleet {
	return &Fleet{
		GPUFleet: &v1alpha1.GPUFleet{TypeMeta: f.TypeMeta, ObjectMeta: f.ObjectMeta, Status: f.Status},
		spec:     f.spec,
		Problem: fmt.Sprintf("the namespace already has %d older GPUFleets, and Forewarm reads no more: delete one",
			maxPerNamespace),
	}
}

// logInvalid logs the problems of a fleet when they change.
func (w *Watch) logInvalid(before, f *Fleet) {
	if f == nil || f.Problem == "" || before != nil && before.Problem == f.Problem {
		return
	}
	w.log.Warn("a GPUFleet is invalid", "fleet", f.key().String(), "problem", f.Problem)
}

// UpdateStatus replaces the status of a fleet. The API server rejects it if the fleet has changed since it was read.
func (w *Watch) UpdateStatus(ctx context.Context, f *Fleet, status *v1alpha1.GPUFleetStatus) error {
	_, err := writes.UpdateStatus(ctx, w.client, f.GPUFleet, status)
	return err
}
