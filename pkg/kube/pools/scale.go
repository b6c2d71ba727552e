package pools

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Scale sets the replicas of an object with a scale subresource whose replicas are the chunks: a set of sleeping replicas in
// the pool's namespace, or a static node pool that names this namespace (see target). Release restores the previous number. It
// never scales a workload that serves (see checkServing).
type Scale struct {
	client dynamic.Interface
	pods   corev1client.PodsGetter
	mapper meta.ResettableRESTMapper
	now    func() time.Time
}

// Hold sets the replicas. The first call only returns the current number in Held.Before. It sets replicas once the
// pool's status has that.
func (s *Scale) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error) {
	ref := pool.Spec.Actuator.Scale.TargetRef
	if len(pool.Spec.CapacityTypes) > 1 {
		return Actual{}, problem(
			v1alpha1.PoolReasonCapacityTypesNotSupported,
			"the scale actuator can set only a single number of replicas: remove spec.capacityTypes, or use another "+
				"actuator",
		)
	}
	before := pool.Status.ScaleBefore
	if before != nil && before.TargetRef != ref {
		// Before, the spec referred to another target.
		if err := s.Release(ctx, pool); err != nil {
			return Actual{}, err
		}
		before = nil
	}
	target, err := s.target(ctx, pool.Namespace, ref)
	if err != nil {
		return Actual{}, err
	}
	if err = s.checkOlderPool(ctx, pool, target); err != nil {
		return Actual{}, err
	}
	if err = s.checkServing(ctx, pool.Namespace, target); err != nil {
		return Actual{}, err
	}
	now, err := target.read(ctx)
	if err != nil {
		return Actual{}, err
	}
	if lostScale(pool) {
		const text = "the pool was restored without its status, so Forewarm does not know how many replicas %s had " +
			"before the pool scaled it: scale it from %d replicas to that number, then remove the annotation %s from " +
			"the pool"
		return Actual{}, problem(
			v1alpha1.PoolReasonScaleBeforeUnknown,
			text,
			target,
			now.Spec.Replicas,
			HoldsAnnotation,
		)
	}
	if before == nil {
		before = &v1alpha1.ScaleBefore{TargetRef: ref, Replicas: now.Spec.Replicas}
	} else if replicas := int32(want.Base + want.Tail); now.Spec.Replicas != replicas { //nolint:gosec // At most 10000: max.
		if err = target.set(ctx, replicas, now.ResourceVersion); err != nil {
			return Actual{}, err
		}
		now.Spec.Replicas = replicas
	}
	return s.held(ctx, pool, now, before)
}

// Observe reads the replicas.
func (s *Scale) Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error) {
	target, err := s.target(ctx, pool.Namespace, pool.Spec.Actuator.Scale.TargetRef)
	if err != nil {
		return Actual{}, err
	}
	now, err := target.read(ctx)
	if err != nil {
		return Actual{}, err
	}
	return s.held(ctx, pool, now, pool.Status.ScaleBefore)
}

// Release restores the previous replicas, if the pool has set any. A target that does not exist needs nothing.
func (s *Scale) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	before := pool.Status.ScaleBefore
	if before == nil {
		return nil
	}
	target, err := s.target(ctx, pool.Namespace, before.TargetRef)
	if err == nil {
		err = retry.RetryOnConflict(retry.DefaultRetry, func() error { return target.set(ctx, before.Replicas, "") })
	}
	if p := AsProblem(err); p != nil && p.Reason == v1alpha1.PoolReasonTargetNotFound {
		return nil
	}
	return err
}

// held returns the replicas that the pool holds in a scale, with a warning if one of the pods has been pending for long. Replicas that the
// pool has not set do not count. A replica counts as ready only if its pod is on a node. If the scale selects no pods, its own number of
// replicas is used.
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
		found, placed := false, int32(0)
		err := eachPod(ctx, s.pods, pool, scale.Status.Selector, func(pod *corev1.Pod) {
			found = true
			if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
				placed++
			} else if out.Warning == "" {
				out.Warning = pendingReason(pod, s.now(), pendingTimeoutOf(pool))
			}
		})
		if err != nil {
			return Actual{}, err
		}
		if found {
			count.Ready = min(count.Ready, placed)
		}
	}
	if out.Warning == "" {
		out.Warning = s.unmade(pool, scale)
	}
	out.Types[0] = count
	return out, nil
}

// unmade returns advice if the target's controller has not created all replicas, and the pool has not been ready for as long as a
// placeholder pod may be pending; otherwise it is empty.
func (s *Scale) unmade(pool *v1alpha1.WarmPool, scale *autoscalingv1.Scale) string {
	made, want := scale.Status.Replicas, scale.Spec.Replicas
	ready := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.PoolConditionReady)
	if made >= want || ready == nil || ready.Status == metav1.ConditionTrue ||
		s.now().Sub(ready.LastTransitionTime.Time) < pendingTimeoutOf(pool) {
		return ""
	}
	const text = "%s has %d of %d replicas, and the pool has been waiting for the others since %s: check that the controller of " +
		"the target runs, and check its events"
	return fmt.Sprintf(text, refOf(pool.Spec.Actuator.Scale.TargetRef), made, want,
		ready.LastTransitionTime.UTC().Format("15:04 MST"))
}
