package actuator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Scale sets the replicas of something that has a scale sub-resource, in the pool's namespace, whose replicas are the
// chunks: a set of sleeping replicas, a static node pool. What it had before is given back. It never sets the scale of a
// workload that serves (see serving).
type Scale struct {
	client dynamic.Interface
	mapper meta.ResettableRESTMapper
}

// NewScale scales by a client of the cluster; the mapper knows its kinds.
func NewScale(client dynamic.Interface, mapper meta.ResettableRESTMapper) *Scale {
	return &Scale{client: client, mapper: mapper}
}

// Hold sets the replicas. The first time it sets nothing and returns what there is in Held.Before: it sets them once the
// pool's status has that.
func (s *Scale) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error) {
	target := targetOf(pool)
	if len(pool.Spec.CapacityTypes) > 1 {
		return Held{}, &Problem{
			Reason: "OneTarget",
			Message: "a scale is one number: remove spec.capacityTypes, or use " +
				"spec.actuator.balloon or capacityBuffer",
		}
	}
	before := pool.Status.ScaleBefore
	if before != nil && before.TargetRef != target {
		// The spec named another before.
		if err := s.giveBack(ctx, pool); err != nil {
			return Held{}, err
		}
		before = nil
	}
	if err := s.rival(ctx, pool, target); err != nil {
		return Held{}, err
	}
	if err := s.serving(ctx, pool.Namespace, target); err != nil {
		return Held{}, err
	}
	now, err := s.read(ctx, pool.Namespace, target)
	if err != nil {
		return Held{}, err
	}
	if before == nil {
		before = &v1alpha1.ScaleBefore{TargetRef: target, Replicas: now.spec}
	} else if replicas := int32(want.Base + want.Tail); now.spec != replicas { //nolint:gosec // At most 10000: max.
		if err := s.set(ctx, pool.Namespace, target, replicas, now.version); err != nil {
			return Held{}, err
		}
		now.spec = replicas
	}
	return now.held(pool, before), nil
}

// Look reads the replicas. Those of a scale that the pool has not set yet are not held by it.
func (s *Scale) Look(ctx context.Context, pool *v1alpha1.WarmPool) (Held, error) {
	now, err := s.read(ctx, pool.Namespace, targetOf(pool))
	if err != nil {
		return Held{}, err
	}
	return now.held(pool, pool.Status.ScaleBefore), nil
}

// Release sets the replicas that there were before, where the pool has set any. A target that is gone needs none.
func (s *Scale) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	if pool.Status.ScaleBefore == nil {
		return nil
	}
	return s.giveBack(ctx, pool)
}

func (s *Scale) giveBack(ctx context.Context, pool *v1alpha1.WarmPool) error {
	before := pool.Status.ScaleBefore
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return s.set(ctx, pool.Namespace, before.TargetRef, before.Replicas, "")
	})
	if p := AsProblem(err); p != nil && p.Reason == reasonNoTarget {
		return nil
	}
	return err
}

func targetOf(pool *v1alpha1.WarmPool) v1alpha1.TargetRef {
	if a := pool.Spec.Actuator; a != nil && a.Scale != nil {
		return a.Scale.TargetRef
	}
	return v1alpha1.TargetRef{}
}

// scaled is what a scale says: the replicas that are asked for, and those that there are.
type scaled struct {
	spec, status int32
	version      string
}

func (n scaled) held(pool *v1alpha1.WarmPool, before *v1alpha1.ScaleBefore) Held {
	count := Count{Name: capacities(pool)[0].Name}
	if pool.Status.ScaleBefore != nil {
		count.Held, count.Ready = int(n.spec), int(min(n.spec, n.status))
	}
	return Held{Types: []Count{count}, Before: before}
}

const reasonNoTarget = "NoTarget"

// resource is where objects of a target's kind are.
func (s *Scale) resource(namespace string, target v1alpha1.TargetRef) (dynamic.ResourceInterface, error) {
	version, err := schema.ParseGroupVersion(versionOf(target))
	if err != nil {
		return nil, &Problem{Reason: reasonNoTarget, Message: "spec.actuator.scale.targetRef: " + plain(err)}
	}
	mapping, err := s.mapper.RESTMapping(version.WithKind(target.Kind).GroupKind(), version.Version)
	switch {
	case meta.IsNoMatchError(err):
		s.mapper.Reset() // What was read of the cluster's kinds may be older than this one.
		return nil, &Problem{Reason: reasonNoTarget, Message: fmt.Sprintf(
			"the cluster knows no kind %s of %s", target.Kind, versionOf(target))}
	case err != nil:
		return nil, fmt.Errorf("look for the kind %s: %w", target.Kind, err)
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return s.client.Resource(mapping.Resource), nil
	}
	return s.client.Resource(mapping.Resource).Namespace(namespace), nil
}

func versionOf(target v1alpha1.TargetRef) string {
	if target.APIVersion == "" {
		return "apps/v1"
	}
	return target.APIVersion
}

func (s *Scale) read(ctx context.Context, namespace string, target v1alpha1.TargetRef) (scaled, error) {
	resource, err := s.resource(namespace, target)
	if err != nil {
		return scaled{}, err
	}
	found, err := resource.Get(ctx, target.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return scaled{}, scaleFault("read", namespace, target, err)
	}
	// A scale of none leaves its fields out.
	asked, _, err := unstructured.NestedInt64(found.Object, "spec", "replicas")
	if err != nil {
		return scaled{}, fmt.Errorf("read the scale of %s: %w", named(target), err)
	}
	there, _, err := unstructured.NestedInt64(found.Object, "status", "replicas")
	if err != nil {
		return scaled{}, fmt.Errorf("read the scale of %s: %w", named(target), err)
	}
	return scaled{
		spec: int32(
			asked,
		),
		status:  int32(there),
		version: found.GetResourceVersion(), //nolint:gosec // They are int32 there.
	}, nil
}

// set sets the replicas of a target, as it was read where a version is given.
func (s *Scale) set(
	ctx context.Context, namespace string, target v1alpha1.TargetRef, replicas int32, version string,
) error {
	resource, err := s.resource(namespace, target)
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"metadata": {"resourceVersion": %q}, "spec": {"replicas": %d}}`, version, replicas)
	if version == "" {
		patch = fmt.Sprintf(`{"spec": {"replicas": %d}}`, replicas)
	}
	_, err = resource.Patch(ctx, target.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: FieldManager}, "scale")
	if err != nil {
		return scaleFault("set", namespace, target, err)
	}
	return nil
}

func named(target v1alpha1.TargetRef) string { return target.Kind + "/" + target.Name }

func scaleFault(doing, namespace string, target v1alpha1.TargetRef, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return &Problem{Reason: reasonNoTarget, Message: fmt.Sprintf(
			"%s is not there in %s, or cannot be scaled", named(target), namespace)}
	case apierrors.IsForbidden(err) && doing == "set":
		return &Problem{Reason: reasonForbidden, Message: fmt.Sprintf(
			"the scale of %s must not be set: grant forewarm's service account patch on it by a Role in %s (deploy/ does "+
				"not: it would be the right to scale everything)",
			named(target),
			namespace,
		)}
	case apierrors.IsForbidden(err):
		return &Problem{Reason: reasonForbidden, Message: fmt.Sprintf(
			"the scale of %s must not be read: apply deploy/rbac", named(target))}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return &Problem{Reason: "Refused", Message: fmt.Sprintf(
			"the scale of %s cannot be %s: %s", named(target), doing, plain(err))}
	}
	return fmt.Errorf("%s the scale of %s in %s: %w", doing, named(target), namespace, err)
}
