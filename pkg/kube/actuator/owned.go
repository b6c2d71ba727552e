package actuator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// FieldManager is under which name all is applied.
const FieldManager = "forewarm-warm-pool"

// owned are the objects of one kind that pools own.
type owned struct {
	client   dynamic.Interface
	resource schema.GroupVersionResource
	kind     string
	// written is what each object became when it was last applied, by its UID.
	written map[types.UID]written
}

// written is what was applied, and what generation it made: as long as the object has that, nobody has changed its spec.
type written struct {
	content    [sha256.Size]byte
	generation int64
}

func newOwned(client dynamic.Interface, resource schema.GroupVersionResource, kind string) *owned {
	return &owned{client: client, resource: resource, kind: kind, written: map[types.UID]written{}}
}

func (o *owned) in(namespace string) dynamic.ResourceInterface {
	return o.client.Resource(o.resource).Namespace(namespace)
}

// objects are a pool's own of a kind, by name.
type objects map[string]*unstructured.Unstructured

// list are a pool's own objects. One with its labels that it does not own is not among them.
func (o *owned) list(ctx context.Context, pool *v1alpha1.WarmPool) (objects, error) {
	all, err := o.in(pool.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(selecting(pool, "")).String(),
	})
	if err != nil {
		return nil, o.fault("list", pool, err)
	}
	out := objects{}
	for i := range all.Items {
		if mine(&all.Items[i], pool) {
			out[all.Items[i].GetName()] = &all.Items[i]
		}
	}
	return out, nil
}

// mine says whether the pool, this one and no other of its name, owns an object.
func mine(object metav1.Object, pool *v1alpha1.WarmPool) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.UID == pool.UID
}

// objectMeta is what all objects of a pool have.
func objectMeta(pool *v1alpha1.WarmPool, capacity string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: nameFor(pool, capacity), Namespace: pool.Namespace, Labels: labelled(selecting(pool, capacity)),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion().String(), Kind: "WarmPool", Name: pool.Name, UID: pool.UID,
			Controller: new(true),
		}},
	}
}

// hold makes an object for each capacity type of a pool, beside those that were found.
func (o *owned) hold(
	ctx context.Context,
	pool *v1alpha1.WarmPool,
	found objects,
	want func(v1alpha1.CapacityType, int) (any, error),
	all Want,
) error {
	split := capacities(pool)
	for i, capacity := range split {
		wanted, err := want(capacity, all.share(i, len(split)))
		if err != nil {
			return err
		}
		name := nameFor(pool, capacity.Name)
		if found[name], err = o.apply(ctx, pool, wanted, found[name]); err != nil {
			return err
		}
	}
	return nil
}

// apply makes an object as it is wanted. It asks nothing of the API server where it is so already; existing is the pool's
// object of that name, nil where it has none. What is there in the end is returned.
func (o *owned) apply(
	ctx context.Context, pool *v1alpha1.WarmPool, want any, existing *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	object, content, err := o.encode(want)
	if err != nil {
		return nil, err
	}
	if existing == nil {
		if err = o.free(ctx, pool, object.GetName()); err != nil {
			return nil, err
		}
	} else {
		if o.written[existing.GetUID()] == (written{content, existing.GetGeneration()}) {
			return existing, nil
		}
		// Should it have been replaced by another since it was listed, the API server refuses.
		object.SetUID(existing.GetUID())
	}
	applied, err := o.in(pool.Namespace).Apply(ctx, object.GetName(), object, force())
	if err != nil {
		return nil, o.fault("apply", pool, err)
	}
	o.written[applied.GetUID()] = written{content, applied.GetGeneration()}
	return applied, nil
}

func force() metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: FieldManager, Force: true} }

// encode is an object as it is sent, and its content's sum.
func (o *owned) encode(want any) (*unstructured.Unstructured, [sha256.Size]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("write a %s: %w", o.kind, err)
	}
	delete(fields, "status")
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(o.resource.GroupVersion().WithKind(o.kind))
	text, err := json.Marshal(fields)
	return object, sha256.Sum256(text), err
}

// free is a Problem where somebody else's object has the name.
func (o *owned) free(ctx context.Context, pool *v1alpha1.WarmPool, name string) error {
	found, err := o.in(pool.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return o.fault("look for", pool, err)
	case mine(found, pool):
		return nil // It has lost the labels by which it is listed, and gets them again.
	}
	return problem("NameTaken", "the %s %s/%s is not this pool's: delete or rename it, or rename the pool",
		o.kind, pool.Namespace, name)
}

// prune deletes what the pool has of capacity types that it does not have any more.
func (o *owned) prune(ctx context.Context, pool *v1alpha1.WarmPool, found objects) error {
	stale := maps.Clone(found)
	for _, capacity := range capacities(pool) {
		delete(stale, nameFor(pool, capacity.Name))
	}
	return o.remove(ctx, pool, stale)
}

// release deletes all that the pool has of this kind.
func (o *owned) release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	all, err := o.list(ctx, pool)
	if err != nil {
		return err
	}
	return o.remove(ctx, pool, all)
}

// remove deletes objects of the pool. It goes on after an error.
func (o *owned) remove(ctx context.Context, pool *v1alpha1.WarmPool, stale objects) error {
	var problems []error
	for name, object := range stale {
		uid, background := object.GetUID(), metav1.DeletePropagationBackground
		err := o.in(pool.Namespace).Delete(ctx, name, metav1.DeleteOptions{
			// Not one that has been put into its place.
			Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
		})
		if err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, o.fault("delete", pool, err))
			continue
		}
		delete(o.written, uid)
	}
	return errors.Join(problems...)
}

// count is what there is of each capacity type of a pool, as each object says of itself.
func count(
	pool *v1alpha1.WarmPool, found objects, read func(*unstructured.Unstructured) (Count, string, error),
) (Held, error) {
	var out Held
	for _, capacity := range capacities(pool) {
		one := Count{}
		if object := found[nameFor(pool, capacity.Name)]; object != nil {
			there, remark, err := read(object)
			if err != nil {
				return Held{}, err
			}
			one, out.Remark = there, join(out.Remark, capacity.Name, remark)
		}
		one.Name = capacity.Name
		out.Types = append(out.Types, one)
	}
	return out, nil
}

// decode reads an object into its type.
func decode[T any](object map[string]any) (*T, error) {
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, out); err != nil {
		return nil, fmt.Errorf("read a %T: %w", *out, err)
	}
	return out, nil
}
