package warmpools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/actuator"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/pool"
)

// Finalizer keeps a pool until what it holds was given back.
const Finalizer = v1alpha1.GroupName + "/warm-pool"

// manager is the field manager of what is written.
const manager = "forewarm"

// Pool is one as the cluster has it. It does not change.
type Pool struct {
	// WarmPool has the defaults filled in. Of an invalid pool it is metadata and status alone.
	*v1alpha1.WarmPool
	// Resolved is what the planner gets; Problem says why there is none: every problem in a line.
	Resolved pool.Resolved
	Problem  string

	// stored is what was read, to be written back.
	stored *unstructured.Unstructured
}

// read makes a pool of an object.
func read(object *unstructured.Unstructured) *Pool {
	p := &Pool{stored: object, WarmPool: &v1alpha1.WarmPool{}}
	v1alpha1.ReadStatus(object, &p.Status)
	if decoded, err := pool.FromObject(object.Object); err != nil {
		p.Problem = err.Error()
	} else {
		var problems field.ErrorList
		p.Resolved, problems = pool.Resolve(decoded)
		p.Problem = manifest.Text(problems)
	}
	if p.Problem == "" {
		p.Spec = p.Resolved.Object.Spec
	}
	p.Namespace, p.Name, p.UID = object.GetNamespace(), object.GetName(), object.GetUID()
	p.Generation, p.ResourceVersion = object.GetGeneration(), object.GetResourceVersion()
	p.CreationTimestamp, p.DeletionTimestamp = object.GetCreationTimestamp(), object.GetDeletionTimestamp()
	p.Finalizers, p.Labels = object.GetFinalizers(), object.GetLabels()
	p.APIVersion, p.Kind = v1alpha1.GroupVersion().String(), v1alpha1.WarmPoolKind
	return p
}

// key is the pool's namespace and name.
func (p *Pool) key() snapshot.Key { return snapshot.Key{Namespace: p.Namespace, Name: p.Name} }

// member is the key of a Forecast in the pool's namespace.
func (p *Pool) member(forecast string) snapshot.Key {
	return snapshot.Key{Namespace: p.Namespace, Name: forecast}
}

// holds says that the pool may hold something: it carries the finalizer.
func (p *Pool) holds() bool { return slices.Contains(p.Finalizers, Finalizer) }

// enforced says that what the pool wants is to be held.
func (p *Pool) enforced() bool { return p.Spec.Mode == v1alpha1.PoolEnforce }

// byAge orders pools, the oldest first.
func byAge(a, b *Pool) int { return actuator.ByAge(a, b) }

// UpdateStatus replaces the status of a pool as it was read: where it has changed since, the API server refuses, and so it
// does for a leader of the past.
func (w *Watch) UpdateStatus(ctx context.Context, p *Pool, status *v1alpha1.WarmPoolStatus) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	object := p.stored.DeepCopy()
	object.Object["status"] = content
	_, err = w.client.Namespace(p.Namespace).UpdateStatus(ctx, object, metav1.UpdateOptions{FieldManager: manager})
	return err
}

// Finalize puts the finalizer on a pool, or takes it off, and returns the pool as it is then. It is refused where the pool
// has changed since it was read.
func (w *Watch) Finalize(ctx context.Context, p *Pool, on bool) (*Pool, error) {
	finalizers := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool { return f == Finalizer })
	if on {
		finalizers = append(finalizers, Finalizer)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": p.ResourceVersion, "finalizers": finalizers,
	}})
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	after, err := w.client.Namespace(p.Namespace).
		Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		return nil, err
	}
	return read(after), nil
}
