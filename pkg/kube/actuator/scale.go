package actuator

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Hold sets the replicas. The first time it sets nothing and returns what there is in Held.Before: it sets them once the
// pool's status has that.
func (s *Scale) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error) {
	target := pool.Spec.Actuator.Scale.TargetRef
	if len(pool.Spec.CapacityTypes) > 1 {
		return Held{}, problem("OneTarget",
			"a scale is one number: remove spec.capacityTypes, or use spec.actuator.balloon or capacityBuffer")
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
		before = &v1alpha1.ScaleBefore{TargetRef: target, Replicas: now.Spec.Replicas}
	} else if replicas := int32(want.Base + want.Tail); now.Spec.Replicas != replicas { //nolint:gosec // At most 10000: max.
		if err := s.set(ctx, pool.Namespace, target, replicas, now.ResourceVersion); err != nil {
			return Held{}, err
		}
		now.Spec.Replicas = replicas
	}
	return heldBy(pool, now, before), nil
}

// Look reads the replicas.
func (s *Scale) Look(ctx context.Context, pool *v1alpha1.WarmPool) (Held, error) {
	now, err := s.read(ctx, pool.Namespace, pool.Spec.Actuator.Scale.TargetRef)
	if err != nil {
		return Held{}, err
	}
	return heldBy(pool, now, pool.Status.ScaleBefore), nil
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

// heldBy is what a scale says. What the pool has not set yet is not held by it.
func heldBy(pool *v1alpha1.WarmPool, scale *autoscalingv1.Scale, before *v1alpha1.ScaleBefore) Held {
	count := Count{Name: capacities(pool)[0].Name}
	if pool.Status.ScaleBefore != nil {
		count.Held, count.Ready = scale.Spec.Replicas, min(scale.Spec.Replicas, scale.Status.Replicas)
	}
	return Held{Types: []Count{count}, Before: before}
}

const reasonNoTarget = "NoTarget"

// resource is where objects of a target's kind are.
func (s *Scale) resource(namespace string, target v1alpha1.TargetRef) (dynamic.ResourceInterface, error) {
	version, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return nil, problem(reasonNoTarget, "spec.actuator.scale.targetRef: %s", plain(err))
	}
	mapping, err := s.mapper.RESTMapping(version.WithKind(target.Kind).GroupKind(), version.Version)
	switch {
	case meta.IsNoMatchError(err):
		s.mapper.Reset() // What was read of the cluster's kinds may be older than this one.
		return nil, problem(reasonNoTarget, "the cluster knows no kind %s of %s", target.Kind, target.APIVersion)
	case err != nil:
		return nil, fmt.Errorf("look for the kind %s: %w", target.Kind, err)
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return s.client.Resource(mapping.Resource), nil
	}
	return s.client.Resource(mapping.Resource).Namespace(namespace), nil
}

func (s *Scale) read(ctx context.Context, namespace string, target v1alpha1.TargetRef) (*autoscalingv1.Scale, error) {
	resource, err := s.resource(namespace, target)
	if err != nil {
		return nil, err
	}
	found, err := resource.Get(ctx, target.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return nil, scaleFault("read", namespace, target, err)
	}
	return decode[autoscalingv1.Scale](found.Object)
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
		return problem(reasonNoTarget, "%s is not there in %s, or cannot be scaled", named(target), namespace)
	case apierrors.IsForbidden(err) && doing == "set":
		const text = "the scale of %s must not be set: grant forewarm's service account patch on it by a Role in %s " +
			"(deploy/ does not: it would be the right to scale everything)"
		return problem(reasonForbidden, text, named(target), namespace)
	case apierrors.IsForbidden(err):
		return problem(reasonForbidden, "the scale of %s must not be read: apply deploy/rbac", named(target))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return problem("Refused", "the scale of %s cannot be %s: %s", named(target), doing, plain(err))
	}
	return fmt.Errorf("%s the scale of %s in %s: %w", doing, named(target), namespace, err)
}
