package pools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

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

// FieldManager is the field manager of all objects.
const FieldManager = "forewarm-warm-pool"

// owned manages the objects of one kind that pools own.
type owned struct {
	client   dynamic.Interface
	resource schema.GroupVersionResource
	kind     string
	// applied has the state of each object after it was last applied, by the object's UID.
	applied map[types.UID]appliedState
}

// appliedState is the content that was applied, and the resulting generation. While the object has this generation, its spec is unchanged.
type appliedState struct {
	content    [sha256.Size]byte
	generation int64
}

func newOwned(client dynamic.Interface, resource schema.GroupVersionResource, kind string) *owned {
	return &owned{client: client, resource: resource, kind: kind, applied: map[types.UID]appliedState{}}
}

func (o *owned) in(namespace string) dynamic.ResourceInterface {
	return o.client.Resource(o.resource).Namespace(namespace)
}

// objects are the objects of one kind of a pool, by name.
type objects map[string]*unstructured.Unstructured

// list returns the objects that a pool owns. It skips objects that have the pool's labels but another owner. For objects whose capacity
// type the pool does not have, it keeps only the name and the UID, because a tenant may create any number of them.
func (o *owned) list(ctx context.Context, pool *v1alpha1.WarmPool) (objects, error) {
	list := func(page metav1.ListOptions) (runtime.Object, error) { return o.in(pool.Namespace).List(ctx, page) }
	current := map[string]bool{}
	for _, capacity := range capacityTypes(pool) {
		current[nameFor(pool, capacity.Name)] = true
	}
	out := objects{}
	selector := labels.SelectorFromSet(selectorLabels(pool, "")).String()
	err := eachItem(ctx, list, metav1.ListOptions{LabelSelector: selector}, func(object runtime.Object) {
		one, is := object.(*unstructured.Unstructured)
		if !is || !isOwnedBy(one, pool) {
			return
		}
		if !current[one.GetName()] {
			stale := &unstructured.Unstructured{Object: map[string]any{}}
			stale.SetName(one.GetName())
			stale.SetUID(one.GetUID())
			one = stale
		}
		out[one.GetName()] = one
	})
	if err != nil {
		return nil, o.classifyError("list", pool, err)
	}
	return out, nil
}

// isOwnedBy reports whether this pool owns an object, by the pool's UID.
func isOwnedBy(object metav1.Object, pool *v1alpha1.WarmPool) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.UID == pool.UID
}

// objectMeta returns the metadata of a pool's objects.
func objectMeta(pool *v1alpha1.WarmPool, capacity string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: nameFor(pool, capacity), Namespace: pool.Namespace, Labels: objectLabels(selectorLabels(pool, capacity)),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion().String(), Kind: "WarmPool", Name: pool.Name, UID: pool.UID,
			Controller: new(true),
		}},
	}
}

// hold applies an object for each capacity type of a pool.
func (o *owned) hold(
	ctx context.Context, pool *v1alpha1.WarmPool, found objects,
	want func(v1alpha1.CapacityType, int) (any, error), all Desired,
) error {
	split := capacityTypes(pool)
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

// apply applies an object, and returns it. It sends no request if nothing has changed. existing is the pool's object of that name; nil if
// there is none.
func (o *owned) apply(
	ctx context.Context, pool *v1alpha1.WarmPool, want any, existing *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	object, content, err := o.encode(want)
	if err != nil {
		return nil, err
	}
	if existing == nil {
		if err = o.checkNameFree(ctx, pool, object.GetName()); err != nil {
			return nil, err
		}
	} else {
		if o.applied[existing.GetUID()] == (appliedState{content, existing.GetGeneration()}) {
			return existing, nil
		}
		// With the UID, the API server rejects the request if the object was replaced since it was listed.
		object.SetUID(existing.GetUID())
	}
	applied, err := o.in(pool.Namespace).Apply(ctx, object.GetName(), object, forceApply())
	if err != nil {
		return nil, o.classifyError("apply", pool, err)
	}
	o.applied[applied.GetUID()] = appliedState{content, applied.GetGeneration()}
	return applied, nil
}

func forceApply() metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: FieldManager, Force: true}
}

// encode returns an object in the form in which it is sent, and the hash of its content.
func (o *owned) encode(want any) (*unstructured.Unstructured, [sha256.Size]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("encode a %s: %w", o.kind, err)
	}
	delete(fields, "status")
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(o.resource.GroupVersion().WithKind(o.kind))
	text, err := json.Marshal(fields)
	return object, sha256.Sum256(text), err
}

// checkNameFree returns a Problem if an object of another owner has the name.
func (o *owned) checkNameFree(ctx context.Context, pool *v1alpha1.WarmPool, name string) error {
	found, err := o.in(pool.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return o.classifyError("look for", pool, err)
	case isOwnedBy(found, pool):
		return nil // The object has lost the labels by which it is listed. They will be applied again.
	}
	return problem(v1alpha1.PoolReasonNameConflict,
		"the %s %s/%s exists, but does not belong to this pool: delete or rename it, or rename the pool", o.kind,
		pool.Namespace, name)
}

// prune deletes the objects of capacity types that the pool no longer has.
func (o *owned) prune(ctx context.Context, pool *v1alpha1.WarmPool, found objects) error {
	stale := maps.Clone(found)
	for _, capacity := range capacityTypes(pool) {
		delete(stale, nameFor(pool, capacity.Name))
	}
	return o.remove(ctx, pool, stale)
}

// release deletes all objects of this kind.
func (o *owned) release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	all, err := o.list(ctx, pool)
	if err != nil {
		return err
	}
	return o.remove(ctx, pool, all)
}

// remove deletes objects of the pool. It continues after an error.
func (o *owned) remove(ctx context.Context, pool *v1alpha1.WarmPool, stale objects) error {
	var problems []error
	for name, object := range stale {
		uid, background := object.GetUID(), metav1.DeletePropagationBackground
		err := o.in(pool.Namespace).Delete(ctx, name, metav1.DeleteOptions{
			// With the UID, an object that replaced this one is not deleted.
			Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
		})
		if err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, o.classifyError("delete", pool, err))
			continue
		}
		delete(o.applied, uid)
	}
	return errors.Join(problems...)
}

// countChunks returns the chunks of each capacity type of a pool, read from its objects.
func countChunks(
	pool *v1alpha1.WarmPool, found objects, read func(*unstructured.Unstructured) (Count, string, error),
) (Actual, error) {
	var out Actual
	for _, capacity := range capacityTypes(pool) {
		one := Count{}
		if object := found[nameFor(pool, capacity.Name)]; object != nil {
			there, remark, err := read(object)
			if err != nil {
				return Actual{}, err
			}
			one, out.Warning = there, joinWarnings(out.Warning, capacity.Name, remark)
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
		return nil, fmt.Errorf("decode a %T: %w", *out, err)
	}
	return out, nil
}

// Labels of a pool's objects and pods. The labels of the template are left out, because Services and autoscalers would count the pods as
// replicas.
const (
	labelPool     = "forewarm.dev/warm-pool"
	labelCapacity = "forewarm.dev/capacity-type"
	labelManager  = "app.kubernetes.io/managed-by"
	managedBy     = "forewarm"
)

// maxNameLength is the maximum length of a label value, and of a name that is the prefix of pod names.
const maxNameLength = 63

// selectorLabels returns the labels that select a pool's objects of a capacity type.
func selectorLabels(pool *v1alpha1.WarmPool, capacity string) map[string]string {
	out := map[string]string{labelPool: boundedName(pool.Name, pool.Name)}
	if capacity != "" {
		out[labelCapacity] = capacity
	}
	return out
}

// nameFor returns the name of a pool's objects of a capacity type. A name with a capacity type ends in a hash. Otherwise the pool a-spot
// and the type spot of the pool a would have the same name.
func nameFor(pool *v1alpha1.WarmPool, capacity string) string {
	name := "warm-" + strings.ReplaceAll(pool.Name, ".", "-")
	whole := "warm-" + pool.Name
	if capacity == "" {
		return boundedName(name, whole)
	}
	return hashedName(name+"-"+capacity, whole+"/"+capacity)
}

// boundedName returns a name unchanged if it is complete and short enough. Otherwise it returns a name that ends in a hash of the complete
// name.
func boundedName(name, whole string) string {
	if name == whole && len(name) <= maxNameLength {
		return name
	}
	return hashedName(name, whole)
}

func hashedName(name, whole string) string {
	sum := sha256.Sum256([]byte(whole))
	suffix := "-" + hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:min(len(name), maxNameLength-len(suffix))], "-.") + suffix
}

// capacityTypes returns the capacity types of a pool. If the pool has none, it returns a single type without a name.
func capacityTypes(pool *v1alpha1.WarmPool) []v1alpha1.CapacityType {
	if len(pool.Spec.CapacityTypes) == 0 {
		return []v1alpha1.CapacityType{{}}
	}
	return pool.Spec.CapacityTypes
}

// share returns how many chunks of the i-th of n capacity types are wanted. If there is only one type, all chunks have that type.
func (w Desired) share(i, n int) int {
	switch {
	case n == 1:
		return w.Base + w.Tail
	case i == 0:
		return w.Base
	}
	return w.Tail
}
