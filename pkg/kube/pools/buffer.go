package pools

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// CapacityBuffer requests chunks from the cluster's autoscaler (Cluster Autoscaler 1.35, Karpenter 1.14, GKE): for
// each capacity type a PodTemplate, which is one chunk, and a CapacityBuffer that refers to it.
type CapacityBuffer struct {
	templates *owned
	buffers   *owned
	now       func() time.Time
}

// buffer has those fields of a CapacityBuffer (autoscaling.x-k8s.io/v1beta1) that Forewarm uses.
type buffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   bufferSpec   `json:"spec"`
	Status bufferStatus `json:"status,omitzero"`
}

type bufferSpec struct {
	ProvisioningStrategy string                      `json:"provisioningStrategy,omitempty"`
	PodTemplateRef       corev1.LocalObjectReference `json:"podTemplateRef"`
	Replicas             int32                       `json:"replicas"`
}

type bufferStatus struct {
	Replicas   int32              `json:"replicas,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Hold applies the PodTemplates and CapacityBuffers, and deletes those of capacity types that the pool does not have
// any more. A PodTemplate is created before its buffer, and deleted after it.
func (c *CapacityBuffer) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error) {
	buffers, err := c.list(ctx, pool)
	if err != nil {
		return Actual{}, err
	}
	templates, err := c.templates.list(ctx, pool)
	if err != nil {
		return Actual{}, err
	}
	err = c.templates.hold(ctx, pool, templates, func(capacity v1alpha1.CapacityType, _ int) (any, error) {
		return &corev1.PodTemplate{
			ObjectMeta: objectMeta(pool, capacity.Name),
			Template:   placeholderTemplate(pool, capacity),
		}, nil
	}, want)
	if err != nil {
		return Actual{}, err
	}
	err = c.buffers.hold(ctx, pool, buffers, func(capacity v1alpha1.CapacityType, replicas int) (any, error) {
		return &buffer{ObjectMeta: objectMeta(pool, capacity.Name), Spec: bufferSpec{
			ProvisioningStrategy: pool.Spec.Actuator.CapacityBuffer.ProvisioningStrategy,
			PodTemplateRef:       corev1.LocalObjectReference{Name: nameFor(pool, capacity.Name)},
			Replicas:             int32(replicas), //nolint:gosec // At most 10000: the schema of max.
		}}, nil
	}, want)
	if err != nil {
		return Actual{}, err
	}
	if err = c.buffers.prune(ctx, pool, buffers); err != nil {
		return Actual{}, err
	}
	if err = c.templates.prune(ctx, pool, templates); err != nil {
		return Actual{}, err
	}
	return c.held(pool, buffers)
}

// Observe reads the buffers.
func (c *CapacityBuffer) Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error) {
	buffers, err := c.list(ctx, pool)
	if err != nil {
		return Actual{}, err
	}
	return c.held(pool, buffers)
}

// Release deletes the CapacityBuffers, and then the PodTemplates. A cluster without the resource has no buffers.
func (c *CapacityBuffer) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	if err := c.buffers.release(ctx, pool); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return c.templates.release(ctx, pool)
}

// list returns the pool's buffers, or a Problem if the cluster does not have the resource.
func (c *CapacityBuffer) list(ctx context.Context, pool *v1alpha1.WarmPool) (objects, error) {
	out, err := c.buffers.list(ctx, pool)
	if apierrors.IsNotFound(err) {
		return nil, problem(v1alpha1.PoolReasonCapacityBufferNotInstalled,
			"the cluster does not have the resource CapacityBuffer of "+
				"autoscaling.x-k8s.io/v1beta1: install the CRD and an autoscaler that supports it (Cluster Autoscaler 1.35 "+
				"or Karpenter 1.14, both behind a flag, or GKE), or use spec.actuator.placeholderPods")
	}
	return out, err
}

// held returns the chunks that exist according to the status of each buffer.
func (c *CapacityBuffer) held(pool *v1alpha1.WarmPool, found objects) (Actual, error) {
	return countChunks(pool, found, func(object *unstructured.Unstructured) (Count, string, error) {
		b, err := decode[buffer](object.Object)
		if err != nil {
			return Count{}, "", err
		}
		return Count{Held: b.Spec.Replicas, Ready: b.ready(c.now(), nodeLead(pool))}, b.warning(c.now()), nil
	})
}

// Conditions of a buffer. The controller has resolved its template; the autoscaler provisions the buffer, False if it cannot; a
// ResourceQuota limits the buffer.
const (
	conditionResolved     = "ReadyForProvisioning"
	conditionProvisioning = "Provisioning"
	conditionLimited      = "LimitedByQuotas"
	// reasonRequiresNewCapacity is one of Karpenter's reasons for conditionProvisioning. In the pass that requests nodes, the condition is False with RequiresNewCapacity. From
	// the next pass on, it is True with FitsExistingCapacity, because a node that is starting counts as existing capacity (v1.14.0).
	reasonRequiresNewCapacity  = "RequiresNewCapacity"
	reasonFitsExistingCapacity = "FitsExistingCapacity"
)

// ready returns how many chunks are ready according to the buffer's status. No autoscaler reports that the nodes are present. Karpenter
// reports when the buffer needs no more nodes. The chunks count as ready one node lead time after that. Chunks that Cluster Autoscaler
// provisions count immediately, although a new node may still be starting.
func (b *buffer) ready(now time.Time, node time.Duration) int32 {
	taken := meta.FindStatusCondition(b.Status.Conditions, conditionProvisioning)
	if taken == nil || taken.Status != metav1.ConditionTrue || taken.Reason == reasonRequiresNewCapacity ||
		taken.Reason == reasonFitsExistingCapacity && now.Sub(taken.LastTransitionTime.Time) < node ||
		!meta.IsStatusConditionTrue(b.Status.Conditions, conditionResolved) {
		return 0
	}
	return min(b.Status.Replicas, b.Spec.Replicas)
}

// warning says what blocks a buffer that requests chunks; empty if nothing blocks it.
func (b *buffer) warning(now time.Time) string {
	if b.Spec.Replicas == 0 {
		return ""
	}
	all := b.Status.Conditions
	if c := meta.FindStatusCondition(all, conditionLimited); c != nil && c.Status == metav1.ConditionTrue {
		return fmt.Sprintf(
			"a quota limits the CapacityBuffer %s to %d of %d chunks (%s): raise the quota, or lower spec.max",
			b.Name,
			b.Status.Replicas,
			b.Spec.Replicas,
			clipLine(c.Message),
		)
	}
	for _, kind := range []string{conditionResolved, conditionProvisioning} {
		if c := meta.FindStatusCondition(all, kind); c != nil && c.Status == metav1.ConditionFalse &&
			c.Reason != reasonRequiresNewCapacity {
			return fmt.Sprintf("the CapacityBuffer %s is not %s: %s (%s)", b.Name, kind, clipLine(c.Message), c.Reason)
		}
	}
	if since := b.CreationTimestamp; len(all) == 0 && now.Sub(since.Time) > pendingTimeout {
		return fmt.Sprintf(
			"no autoscaler has processed the CapacityBuffer %s since %s: check that an autoscaler for "+
				"CapacityBuffers is running and that its feature flag is set", b.Name, since.UTC().Format("15:04 MST"))
	}
	return ""
}
