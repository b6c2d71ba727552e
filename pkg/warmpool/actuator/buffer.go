package actuator

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// CapacityBuffer asks the cluster's autoscaler for chunks, by the objects that Cluster Autoscaler (1.35), Karpenter (1.14)
// and GKE fulfil: for each capacity type a PodTemplate, which is a chunk, and a CapacityBuffer that refers to it.
type CapacityBuffer struct {
	templates *owned
	buffers   *owned
	now       func() time.Time
}

// NewCapacityBuffer asks by a client of the cluster.
func NewCapacityBuffer(objects dynamic.Interface, now func() time.Time) *CapacityBuffer {
	return &CapacityBuffer{
		templates: newOwned(objects, corev1.SchemeGroupVersion.WithResource("podtemplates"), "PodTemplate"),
		buffers: newOwned(objects, schema.GroupVersionResource{
			Group: "autoscaling.x-k8s.io", Version: "v1beta1", Resource: "capacitybuffers",
		}, "CapacityBuffer"),
		now: now,
	}
}

// buffer is of a CapacityBuffer (autoscaling.x-k8s.io/v1beta1) what is used here.
type buffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   bufferSpec   `json:"spec"`
	Status bufferStatus `json:"status,omitzero"`
}

type bufferSpec struct {
	ProvisioningStrategy string    `json:"provisioningStrategy,omitempty"`
	PodTemplateRef       reference `json:"podTemplateRef"`
	Replicas             int32     `json:"replicas"`
}

type bufferStatus struct {
	Replicas   int32              `json:"replicas,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type reference struct {
	Name string `json:"name"`
}

// Hold makes the PodTemplates and CapacityBuffers as they are wanted, and deletes those of capacity types that the pool
// does not have any more.
func (c *CapacityBuffer) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error) {
	buffers, err := c.list(ctx, pool)
	if err != nil {
		return Held{}, err
	}
	templates, err := c.templates.list(ctx, pool)
	if err != nil {
		return Held{}, err
	}
	all, stay := capacities(pool), map[string]bool{}
	for i, capacity := range all {
		name := nameFor(pool, capacity.Name)
		stay[name] = true
		// The chunk first: the buffer refers to it.
		template := &corev1.PodTemplate{ObjectMeta: objectMeta(pool, capacity.Name), Template: shape(pool, capacity)}
		if _, err = c.templates.apply(ctx, pool, template, templates[name]); err != nil {
			return Held{}, err
		}
		wanted := bufferOf(pool, capacity.Name, want.share(i, len(all)))
		if buffers[name], err = c.buffers.apply(ctx, pool, wanted, buffers[name]); err != nil {
			return Held{}, err
		}
	}
	if err = c.buffers.remove(ctx, pool, buffers, stay); err != nil {
		return Held{}, err
	}
	if err = c.templates.remove(ctx, pool, templates, stay); err != nil {
		return Held{}, err
	}
	return c.held(pool, buffers)
}

// Look reads what the buffers say.
func (c *CapacityBuffer) Look(ctx context.Context, pool *v1alpha1.WarmPool) (Held, error) {
	buffers, err := c.list(ctx, pool)
	if err != nil {
		return Held{}, err
	}
	return c.held(pool, buffers)
}

// Release deletes the CapacityBuffers, and then the PodTemplates. Where the cluster does not know any buffers, there are
// none.
func (c *CapacityBuffer) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	if err := c.buffers.release(ctx, pool); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return c.templates.release(ctx, pool)
}

// list are the pool's buffers; a Problem where the cluster does not know such objects.
func (c *CapacityBuffer) list(
	ctx context.Context, pool *v1alpha1.WarmPool,
) (map[string]*unstructured.Unstructured, error) {
	out, err := c.buffers.list(ctx, pool)
	if apierrors.IsNotFound(err) {
		return nil, &Problem{Reason: "NoCapacityBuffer", Message: "the cluster does not know CapacityBuffers of " +
			"autoscaling.x-k8s.io/v1beta1: install their CRD and an autoscaler that fulfils them (Cluster Autoscaler 1.35 " +
			"or Karpenter 1.14, both behind a flag; GKE), or use spec.actuator.balloon"}
	}
	return out, err
}

// bufferOf is the CapacityBuffer of a capacity type.
func bufferOf(pool *v1alpha1.WarmPool, capacity string, replicas int) *buffer {
	strategy := ""
	if a := pool.Spec.Actuator; a != nil && a.CapacityBuffer != nil {
		strategy = a.CapacityBuffer.ProvisioningStrategy
	}
	return &buffer{ObjectMeta: objectMeta(pool, capacity), Spec: bufferSpec{
		ProvisioningStrategy: strategy, PodTemplateRef: reference{Name: nameFor(pool, capacity)},
		Replicas: int32(replicas), //nolint:gosec // At most 10000: the schema of max.
	}}
}

// held reads what each buffer says.
func (c *CapacityBuffer) held(
	pool *v1alpha1.WarmPool, found map[string]*unstructured.Unstructured,
) (Held, error) {
	var out Held
	for _, capacity := range capacities(pool) {
		count := Count{Name: capacity.Name}
		if object := found[nameFor(pool, capacity.Name)]; object != nil {
			b, err := decodeBuffer(object.Object)
			if err != nil {
				return Held{}, err
			}
			count.Held, count.Ready = int(b.Spec.Replicas), b.ready()
			out.Remark = join(out.Remark, capacity.Name, b.remark(c.now()))
		}
		out.Types = append(out.Types, count)
	}
	return out, nil
}

func decodeBuffer(fields map[string]any) (*buffer, error) {
	b := &buffer{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, b); err != nil {
		return nil, fmt.Errorf("read a CapacityBuffer: %w", err)
	}
	return b, nil
}

// The conditions of a buffer: the controller has resolved its template; the autoscaler has taken it up, false where it
// cannot help; a ResourceQuota makes it smaller than it should be.
const (
	conditionResolved = "ReadyForProvisioning"
	conditionTaken    = "Provisioning"
	conditionLimited  = "LimitedByQuotas"
	// requiresNew is Karpenter's reason for conditionTaken while nodes are on their way.
	requiresNew = "RequiresNewCapacity"
)

// ready is how many chunks the buffer says are there. Karpenter says whether any node is still to come, and then none
// counts. Cluster Autoscaler does not: what it has taken up counts, though a new node may still be on its way.
func (b *buffer) ready() int {
	taken := meta.FindStatusCondition(b.Status.Conditions, conditionTaken)
	if taken == nil || taken.Status != metav1.ConditionTrue || taken.Reason == requiresNew ||
		!meta.IsStatusConditionTrue(b.Status.Conditions, conditionResolved) {
		return 0
	}
	return int(min(b.Status.Replicas, b.Spec.Replicas))
}

// remark says what is in the way of a buffer that asks for anything.
func (b *buffer) remark(now time.Time) string {
	if b.Spec.Replicas == 0 {
		return ""
	}
	if c := meta.FindStatusCondition(
		b.Status.Conditions,
		conditionLimited,
	); c != nil &&
		c.Status == metav1.ConditionTrue {
		return fmt.Sprintf("a quota limits the CapacityBuffer %s to %d of %d chunks (%s); raise it or lower spec.max",
			b.Name, b.Status.Replicas, b.Spec.Replicas, brief(c.Message))
	}
	for _, kind := range []string{conditionResolved, conditionTaken} {
		if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			return fmt.Sprintf("the CapacityBuffer %s is not %s: %s (%s)", b.Name, kind, brief(c.Message), c.Reason)
		}
	}
	if len(b.Status.Conditions) == 0 && now.Sub(b.CreationTimestamp.Time) > patience {
		return fmt.Sprintf(
			"nothing has taken up the CapacityBuffer %s since %s: is there an autoscaler that fulfils it, "+
				"with its flag set?",
			b.Name,
			b.CreationTimestamp.UTC().Format("15:04 MST"),
		)
	}
	return ""
}
