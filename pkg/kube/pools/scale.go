package pools

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Scale sets the replicas of an object with a scale subresource, in the pool's namespace, whose replicas are the
// chunks: a set of sleeping replicas, a static node pool. Release restores the previous number. It never scales a
// workload that serves (see checkServing).
type Scale struct {
	client dynamic.Interface
	pods   corev1client.PodsGetter
	mapper meta.ResettableRESTMapper
	now    func() time.Time
}

// Hold sets the replicas. The first call only returns the current number in Held.Before. It sets replicas once the
// pool's status has that.
func (s *Scale) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error) {
	target := pool.Spec.Actuator.Scale.TargetRef
	if len(pool.Spec.CapacityTypes) > 1 {
		return Actual{}, problem(v1alpha1.PoolReasonCapacityTypesNotSupported,
			"a scale has one number of replicas: remove spec.capacityTypes, or use another actuator")
	}
	before := pool.Status.ScaleBefore
	if before != nil && before.TargetRef != target {
		// The spec named another target before.
		if err := s.giveBack(ctx, pool); err != nil {
			return Actual{}, err
		}
		before = nil
	}
	if err := s.checkOlderPool(ctx, pool, target); err != nil {
		return Actual{}, err
	}
	if err := s.checkServing(ctx, pool.Namespace, target); err != nil {
		return Actual{}, err
	}
	now, err := s.read(ctx, pool.Namespace, target)
	if err != nil {
		return Actual{}, err
	}
	if before == nil {
		before = &v1alpha1.ScaleBefore{TargetRef: target, Replicas: now.Spec.Replicas}
	} else if replicas := int32(want.Base + want.Tail); now.Spec.Replicas != replicas { //nolint:gosec // At most 10000: max.
		if err := s.set(ctx, pool.Namespace, target, replicas, now.ResourceVersion); err != nil {
			return Actual{}, err
		}
		now.Spec.Replicas = replicas
	}
	return s.held(ctx, pool, now, before)
}

// Observe reads the replicas.
func (s *Scale) Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error) {
	now, err := s.read(ctx, pool.Namespace, pool.Spec.Actuator.Scale.TargetRef)
	if err != nil {
		return Actual{}, err
	}
	return s.held(ctx, pool, now, pool.Status.ScaleBefore)
}

// Release restores the previous replicas, if the pool has set any. A target that does not exist needs nothing.
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
	if p := AsProblem(err); p != nil && p.Reason == v1alpha1.PoolReasonTargetNotFound {
		return nil
	}
	return err
}

// held returns what a scale holds, and what those of its pods wait for that have waited for long. Replicas that the pool has not
// set do not count, and none is ready for whose pod there is no node. Where it selects no pods, its replicas are none.
func (s *Scale) held(
	ctx context.Context, pool *v1alpha1.WarmPool, scale *autoscalingv1.Scale, before *v1alpha1.ScaleBefore,
) (Actual, error) {
	count := Count{Name: capacityTypes(pool)[0].Name}
	out := Actual{Types: []Count{count}, Before: before}
	if pool.Status.ScaleBefore == nil {
		return out, nil
	}
	count.Held, count.Ready = scale.Spec.Replicas, min(scale.Spec.Replicas, scale.Status.Replicas)
	if scale.Status.Selector != "" && count.Ready > 0 {
		pods, err := s.pods.Pods(pool.Namespace).List(ctx, metav1.ListOptions{LabelSelector: scale.Status.Selector})
		if err != nil {
			return Actual{}, listPodsError(pool, err)
		}
		placed := int32(0)
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
				placed++
			} else if out.Warning == "" {
				out.Warning = pendingReason(pod, s.now(), pendingTimeoutOf(pool))
			}
		}
		if len(pods.Items) > 0 {
			count.Ready = min(count.Ready, placed)
		}
	}
	if out.Warning == "" {
		out.Warning = s.unmade(pool, scale)
	}
	out.Types[0] = count
	return out, nil
}

// unmade is advice about a target whose controller has not made all replicas for as long as a placeholder pod may be pending; empty for
// none. The pool has not been ready as long.
func (s *Scale) unmade(pool *v1alpha1.WarmPool, scale *autoscalingv1.Scale) string {
	made, want := scale.Status.Replicas, scale.Spec.Replicas
	ready := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.PoolConditionReady)
	if made >= want || ready == nil || ready.Status == metav1.ConditionTrue ||
		s.now().Sub(ready.LastTransitionTime.Time) < pendingTimeoutOf(pool) {
		return ""
	}
	const text = "%s has %d of %d replicas, and the pool waits for more since %s: check that its controller runs, and its events"
	return fmt.Sprintf(text, refOf(pool.Spec.Actuator.Scale.TargetRef), made, want,
		ready.LastTransitionTime.UTC().Format("15:04 MST"))
}

// resource returns the client of a target's kind.
func (s *Scale) resource(namespace string, target v1alpha1.TargetRef) (dynamic.ResourceInterface, error) {
	version, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return nil, problem(v1alpha1.PoolReasonTargetNotFound, "spec.actuator.scale.targetRef: %s", errorLine(err))
	}
	mapping, err := s.mapper.RESTMapping(version.WithKind(target.Kind).GroupKind(), version.Version)
	switch {
	case meta.IsNoMatchError(err):
		s.mapper.Reset() // The cached kinds may be older than this one.
		return nil, problem(v1alpha1.PoolReasonTargetNotFound, "the cluster has no kind %s of %s", target.Kind,
			target.APIVersion)
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
		return nil, scaleError("read", namespace, target, err)
	}
	return decode[autoscalingv1.Scale](found.Object)
}

// set sets the replicas of a target. With a version, the API server rejects it if the target has changed.
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
		return scaleError("set", namespace, target, err)
	}
	return nil
}

func refOf(target v1alpha1.TargetRef) string { return target.Kind + "/" + target.Name }

func scaleError(doing, namespace string, target v1alpha1.TargetRef, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return problem(v1alpha1.PoolReasonTargetNotFound, "%s does not exist in %s, or has no scale subresource",
			refOf(target), namespace)
	case apierrors.IsForbidden(err) && doing == "set":
		const text = "cannot set the scale of %s: grant patch on it to Forewarm's service account by a Role in %s " +
			"(deploy/ does not grant it, because it would be the right to scale everything)"
		return problem(v1alpha1.PoolReasonForbidden, text, refOf(target), namespace)
	case apierrors.IsForbidden(err):
		return problem(v1alpha1.PoolReasonForbidden,
			"cannot read the scale of %s: apply deploy/default, or upgrade the chart", refOf(target))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return problem(v1alpha1.PoolReasonRejected, "cannot %s the scale of %s: %s", doing, refOf(target),
			errorLine(err))
	}
	return fmt.Errorf("%s the scale of %s in %s: %w", doing, refOf(target), namespace, err)
}
