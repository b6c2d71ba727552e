package pools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Watch watches the pools of all namespaces. Each is decoded by itself, so that one that does not fit its type does
// not affect the others. It is safe for concurrent use.
type Watch struct {
	*informer.Watch[Pool]

	log    *slog.Logger
	client dynamic.NamespaceableResourceInterface
}

// NewWatch returns a watch of the pools. It sends no requests before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	own := informer.Slim(cluster)
	// The controller has its own rate limit. The client's default of 5 requests/s would be a second, hidden limit.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for WarmPools: %w", err)
	}
	w := &Watch{log: log, client: client.Resource(v1alpha1.GroupVersion().WithResource("warmpools"))}
	w.Watch = informer.New(informer.From(w.client, client, ""), newPool, informer.Config[Pool]{
		Name:    "WarmPools",
		Advice:  "apply deploy/default, or upgrade the chart, to use warm pools",
		Index:   covered,
		Changed: w.logInvalid,
		Failed:  w.logProblem,
		Bound: &informer.Bound[Pool]{
			Limit:   maxPerNamespace,
			Compare: informer.CompareAge[*Pool],
			Stub:    tooMany,
			Get:     informer.GetBy(w.client),
		},
	})
	return w, nil
}

// List returns the pools of all namespaces, in the order of their namespaces and names. Read only.
func (w *Watch) List() []*Pool {
	pools := w.Watch.List()
	slices.SortFunc(pools, func(a, b *Pool) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return pools
}

// Covered returns the pool that covers a Forecast, and since when, as the leader last wrote it. If several cover it,
// which is transient, the oldest counts.
func (w *Watch) Covered(namespace, forecast string) (pool string, since time.Time, ok bool) {
	found := w.Indexed(snapshot.Key{Namespace: namespace, Name: forecast}.String())
	if len(found) == 0 {
		return "", time.Time{}, false
	}
	oldest := slices.MinFunc(found, informer.CompareAge)
	i := slices.IndexFunc(oldest.Status.Covered, func(c v1alpha1.Cover) bool { return c.Forecast == forecast })
	return oldest.Name, oldest.Status.Covered[i].Since.Time, true
}

// covered returns the Forecasts that a pool covers, as keys of the index.
func covered(p *Pool) []string {
	var out []string
	for _, c := range p.Status.Covered {
		out = append(out, p.memberKey(c.Forecast).String())
	}
	return out
}

// logInvalid logs the problems of a pool when they change.
func (w *Watch) logInvalid(before, p *Pool) {
	if p == nil || p.Problem == "" || before != nil && before.Problem == p.Problem {
		return
	}
	w.log.Warn("a WarmPool is invalid", "pool", p.key().String(), "problem", p.Problem)
}

func (w *Watch) logProblem(ctx context.Context, problem *informer.ReadError) {
	level := slog.LevelWarn
	if apierrors.IsNotFound(problem) {
		level = slog.LevelInfo // This cluster uses only Forecasts.
	}
	w.log.Log(ctx, level, "Forewarm does not plan warm pools, because it cannot read them", "reason", problem)
}

// Finalizer keeps a pool until the scale that it set was restored. Objects that a pool owns need none: Kubernetes deletes them
// with it, also where Forewarm is gone already.
const Finalizer = v1alpha1.GroupName + "/warm-pool"

// HoldsAnnotation marks a pool that may hold something.
const HoldsAnnotation = v1alpha1.GroupName + "/holds-capacity"

// Pool is a WarmPool of the cluster, immutable.
type Pool struct {
	// WarmPool is the object with defaults applied. An invalid pool has only metadata and status.
	*v1alpha1.WarmPool
	// Resolved is the input of the planner; Problem is why there is none: all problems in one line.
	Resolved manifest.ResolvedPool
	Problem  string
	// unread says why the finalizers could not be read; empty if they were read.
	unread string
	// spec is the condition about fields that Forewarm or the cluster does not know; nil if there are none.
	spec *metav1.Condition
}

// maxPerNamespace limits how many pools of a namespace are kept, and maxSize limits the memory for the spec of one pool. A spec with
// sixteen containers takes about 30 KiB.
const (
	maxPerNamespace = 100
	maxSize         = 256 << 10
)

// newPool decodes a pool.
func newPool(object *unstructured.Unstructured) *Pool {
	p := &Pool{
		WarmPool: &v1alpha1.WarmPool{}, unread: informer.FinalizersProblem(object),
		spec: writes.CheckSpec(object, &v1alpha1.WarmPool{}),
	}
	v1alpha1.ReadStatus(object, &p.Status)
	p.Resolved, p.Problem = resolve(object)
	if p.Problem == "" {
		p.Spec = p.Resolved.Object.Spec
	}
	p.Resolved.Object = nil // The spec is already in the pool.
	p.Namespace, p.Name, p.UID = object.GetNamespace(), object.GetName(), object.GetUID()
	p.Generation, p.ResourceVersion = object.GetGeneration(), object.GetResourceVersion()
	p.CreationTimestamp, p.DeletionTimestamp = object.GetCreationTimestamp(), object.GetDeletionTimestamp()
	p.Finalizers, p.Annotations = object.GetFinalizers(), object.GetAnnotations()
	p.APIVersion, p.Kind = v1alpha1.GroupVersion().String(), v1alpha1.WarmPoolKind
	return p
}

// resolve reads the spec of a pool, or says why it cannot be read.
func resolve(object *unstructured.Unstructured) (resolved manifest.ResolvedPool, problem string) {
	if problem := informer.SpecProblem(object); problem != "" {
		return manifest.ResolvedPool{}, problem
	}
	decoded, err := manifest.PoolFromObject(object.Object)
	if err != nil {
		return manifest.ResolvedPool{}, err.Error()
	}
	if size := informer.SizeOf(decoded.Spec); size > maxSize {
		const text = "its spec takes %d KiB of memory, but Forewarm keeps at most %d KiB: " +
			"remove fields that placeholders do not need from spec.chunk.podTemplate"
		return manifest.ResolvedPool{}, fmt.Sprintf(text, size>>10, maxSize>>10)
	}
	resolved, problems := manifest.ResolvePool(decoded)
	return resolved, manifest.JoinProblems(problems)
}

// tooMany returns the pool to keep if the namespace has too many.
func tooMany(p *Pool) *Pool {
	return &Pool{
		WarmPool: &v1alpha1.WarmPool{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta, Status: p.Status},
		Problem: fmt.Sprintf("the namespace already has %d older WarmPools, and Forewarm reads no more: delete one",
			maxPerNamespace),
		unread: p.unread, spec: p.spec,
	}
}

func (p *Pool) key() snapshot.Key { return snapshot.Key{Namespace: p.Namespace, Name: p.Name} }

// memberKey returns the key of a Forecast in the pool's namespace.
func (p *Pool) memberKey(forecast string) snapshot.Key {
	return snapshot.Key{Namespace: p.Namespace, Name: forecast}
}

// mayHold reports whether the pool may hold something. Before HoldsAnnotation was introduced, only the finalizer recorded this.
func (p *Pool) mayHold() bool {
	return p.Annotations[HoldsAnnotation] != "" || hasFinalizer(p.WarmPool)
}

func hasFinalizer(pool *v1alpha1.WarmPool) bool { return slices.Contains(pool.Finalizers, Finalizer) }

// needsFinalizer reports whether the pool may have set the scale of another object, which is not deleted with the pool. The number of
// replicas to restore is in the status.
func (p *Pool) needsFinalizer() bool {
	return p.Status.ScaleBefore != nil || p.Resolved.Actuator == manifest.ActuatorScale && lostScale(p.WarmPool)
}

// lostScale reports whether a pool may have set a scale, but its status does not have the number to restore. This happens if the pool was
// restored from a backup without its status. The present number of the target may be the pool's own.
func lostScale(pool *v1alpha1.WarmPool) bool {
	return pool.Status.ScaleBefore == nil && pool.Annotations[HoldsAnnotation] != "" && hasFinalizer(pool)
}

// marked reports whether the object already records whether the pool may hold something.
func (p *Pool) marked(holds bool) bool {
	if !holds {
		return !p.mayHold()
	}
	return p.Annotations[HoldsAnnotation] != "" && hasFinalizer(p.WarmPool) == p.needsFinalizer()
}

// enforced reports whether the pool acts on its plan.
func (p *Pool) enforced() bool { return p.Spec.Mode == v1alpha1.PoolEnforce }

// UpdateStatus replaces the status of a pool. The API server rejects it if the pool has changed since it was read,
// and so the write of a previous leader.
func (w *Watch) UpdateStatus(ctx context.Context, p *Pool, status *v1alpha1.WarmPoolStatus) error {
	_, err := writes.UpdateStatus(ctx, w.client, p.WarmPool, status)
	return err
}

// Mark records that the pool may hold something, or that it holds nothing, and returns the new pool. It fails if the pool
// has changed since it was read.
func (w *Watch) Mark(ctx context.Context, p *Pool, holds bool) (*Pool, error) {
	if p.unread != "" {
		return nil, errors.New(p.unread) // A write would remove the finalizers that were not read.
	}
	finalizers := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool { return f == Finalizer })
	annotation := any(nil)
	if holds {
		annotation = "true"
	}
	if holds && p.needsFinalizer() {
		finalizers = append(finalizers, Finalizer)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": p.ResourceVersion, "finalizers": finalizers,
		"annotations": map[string]any{HoldsAnnotation: annotation},
	}})
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	after, err := w.client.Namespace(p.Namespace).
		Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: writes.Manager})
	if err != nil {
		return nil, err
	}
	return newPool(after), nil
}
