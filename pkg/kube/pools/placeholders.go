package pools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// PlaceholderPods holds chunks by placeholder pods of negative priority: one Deployment for each capacity type, whose
// pods have the resources of the chunk's pod and do nothing. The scheduler preempts them for real pods, and the
// Deployment creates them again, behind a gate: the next plan deletes them, or opens the gate. Then the cluster's
// autoscaler adds nodes for them.
type PlaceholderPods struct {
	client      kubernetes.Interface
	deployments *owned
	now         func() time.Time
	// imagesKnown is true once it is known whether the API server supports image volumes; images is true if it does.
	imagesKnown, images bool
}

// Hold applies the Deployments, deletes those of capacity types that the pool does not have any more, and opens the gates
// of the pods that are there. Without the right to open gates there are none.
func (b *PlaceholderPods) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error) {
	if err := b.checkPriorityClass(ctx, pool.Spec.Actuator.PlaceholderPods.PriorityClassName); err != nil {
		return Actual{}, err
	}
	found, err := b.deployments.list(ctx, pool)
	if err != nil {
		return Actual{}, err
	}
	gated, err := b.mayOpen(ctx, pool.Namespace)
	if err != nil {
		return Actual{}, err
	}
	err = b.deployments.hold(ctx, pool, found, func(capacity v1alpha1.CapacityType, replicas int) (any, error) {
		d := placeholderDeployment(pool, capacity, replicas)
		if gated {
			d.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate}}
		}
		return d, b.dropUnsupportedImages(ctx, pool, d)
	}, want)
	if err != nil {
		return Actual{}, err
	}
	if err = b.deployments.prune(ctx, pool, found); err != nil {
		return Actual{}, err
	}
	if gated {
		if err = b.open(ctx, pool, found); err != nil {
			return Actual{}, err
		}
	}
	return b.held(ctx, pool, found)
}

// Observe counts the placeholder pods.
func (b *PlaceholderPods) Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error) {
	found, err := b.deployments.list(ctx, pool)
	if err != nil {
		return Actual{}, err
	}
	return b.held(ctx, pool, found)
}

// Release deletes the Deployments; their pods are deleted after them.
func (b *PlaceholderPods) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	return b.deployments.release(ctx, pool)
}

// held counts the placeholder pods of each capacity type: those requested, and those available.
func (b *PlaceholderPods) held(ctx context.Context, pool *v1alpha1.WarmPool, found objects) (Actual, error) {
	total := int32(0)
	out, err := countChunks(pool, found, func(object *unstructured.Unstructured) (one Count, remark string, err error) {
		d, err := decode[appsv1.Deployment](object.Object)
		if err != nil {
			return Count{}, "", err
		}
		one.Held = ptr.Deref(d.Spec.Replicas, 0)
		// While the Deployment shrinks, more pods are available than requested.
		one.Ready = min(one.Held, d.Status.AvailableReplicas)
		total += one.Held
		remark, err = b.warning(ctx, pool, d, one)
		return one, remark, err
	})
	if err != nil || total == 0 {
		return out, err
	}
	remark, err := QuotaWarning(ctx, b.client, pool)
	if err != nil && !apierrors.IsForbidden(err) { // Without this permission, nothing is known about quotas.
		return Actual{}, err
	}
	out.Warning = joinWarnings(out.Warning, "", remark)
	return out, nil
}

// placeholderDeployment returns the Deployment of a capacity type. Its rollout deletes placeholder pods before it creates new ones.
// Otherwise a rollout would request twice as many nodes.
func placeholderDeployment(pool *v1alpha1.WarmPool, capacity v1alpha1.CapacityType, replicas int) *appsv1.Deployment {
	pod, spec := placeholderTemplate(pool, capacity), pool.Spec.Actuator.PlaceholderPods
	pod.Spec.PriorityClassName, pod.Spec.Containers[0].Image = spec.PriorityClassName, spec.Image
	mountImages(&pod.Spec, spec.PrePullImages)
	none, quarter := intstr.FromInt32(0), intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: objectMeta(pool, capacity.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(replicas)), //nolint:gosec // At most 10000: the schema of max.
			Selector: &metav1.LabelSelector{MatchLabels: selectorLabels(pool, capacity.Name)},
			Template: pod,
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &none, MaxUnavailable: &quarter},
			},
			RevisionHistoryLimit: new(int32(0)),
		},
	}
}

// mountImages mounts images as volumes. The kubelet pulls them, but does not run them.
func mountImages(spec *corev1.PodSpec, images []string) {
	for i, image := range images {
		name := fmt.Sprintf("pull-%d", i)
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			Image: &corev1.ImageVolumeSource{Reference: image, PullPolicy: corev1.PullIfNotPresent},
		}})
		spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{
			Name: name, MountPath: "/" + name, ReadOnly: true,
		})
	}
}

// dropUnsupportedImages removes the image volumes from a Deployment if the cluster does not support them (Kubernetes enables them by
// default from 1.35 on). Older API servers drop the field, and then reject the volume because it has no source. A dry run finds this out
// once per process.
func (b *PlaceholderPods) dropUnsupportedImages(
	ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment,
) error {
	if len(d.Spec.Template.Spec.Volumes) == 0 {
		return nil
	}
	if !b.imagesKnown {
		object, _, err := b.deployments.encode(d)
		if err != nil {
			return err
		}
		try := forceApply()
		try.DryRun = []string{metav1.DryRunAll}
		tried, err := b.deployments.in(pool.Namespace).Apply(ctx, d.Name, object, try)
		if err != nil && !apierrors.IsInvalid(err) {
			return b.deployments.classifyError("try", pool, err)
		}
		// Other errors are reported when the Deployment is applied. Until there are none, each step tries the dry run again.
		b.imagesKnown = err == nil || invalidField(err, "spec.template.spec.volumes[0]")
		if b.images = err == nil; b.images {
			kept, err := decode[appsv1.Deployment](tried.Object)
			b.images = err == nil && len(kept.Spec.Template.Spec.Volumes) > 0 &&
				kept.Spec.Template.Spec.Volumes[0].Image != nil
		}
	}
	if !b.images {
		d.Spec.Template.Spec.Volumes, d.Spec.Template.Spec.Containers[0].VolumeMounts = nil, nil
	}
	return nil
}

// checkPriorityClass returns a Problem if pods of priority 0, the default, would not preempt the placeholder pods of a priority class.
func (b *PlaceholderPods) checkPriorityClass(ctx context.Context, name string) error {
	class, err := b.client.SchedulingV1().PriorityClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return problem(v1alpha1.PoolReasonPriorityClassNotFound,
			"the PriorityClass %s does not exist: apply deploy/warm-pools, "+
				"set warmPools.enforce in the chart, or use another one in spec.actuator.placeholderPods", name)
	case apierrors.IsForbidden(err):
		return problem(v1alpha1.PoolReasonForbidden,
			"Forewarm is not allowed to read the PriorityClass %s: apply deploy/warm-pools, or set warmPools.enforce "+
				"in the chart", name)
	case err != nil:
		return fmt.Errorf("read the PriorityClass %s: %w", name, err)
	case class.Value >= 0:
		return problem(v1alpha1.PoolReasonPriorityTooHigh,
			"the PriorityClass %s has the value %d, so pods of priority 0 would not preempt placeholder pods: "+
				"use a PriorityClass with a negative value (Cluster Autoscaler adds nodes for -10 and above)", name, class.Value)
	}
	return nil
}

// QuotaWarning returns a warning where a ResourceQuota leaves no room for a real pod because it counts placeholder
// pods. The API server rejects such a pod before the scheduler can preempt anything, so the pool would block its own
// members. The pool has its defaults.
func QuotaWarning(ctx context.Context, client kubernetes.Interface, pool *v1alpha1.WarmPool) (string, error) {
	all, err := client.CoreV1().ResourceQuotas(pool.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list the quotas of %s: %w", pool.Namespace, err)
	}
	chunk := quotaResources(chunkResources(&pool.Spec.Chunk.PodTemplate.Spec))
	class := pool.Spec.Actuator.PlaceholderPods.PriorityClassName
	for i := range all.Items {
		q := &all.Items[i]
		if !quotaCounts(&q.Spec, class) {
			continue
		}
		if name, full := exhaustedResource(chunk, &q.Status); full {
			used, hard := q.Status.Used[name], q.Status.Hard[name]
			return fmt.Sprintf(
				"the ResourceQuota %s counts placeholder pods, and %s of %s %s are used, so it rejects the real pods "+
					"that would replace placeholder pods: exclude placeholder pods from this quota (scopeSelector, "+
					"PriorityClass NotIn [%s]) and create a second quota for them, raise this quota, or lower "+
					"spec.max",
				q.Name, used.String(), hard.String(), name, class), nil
		}
	}
	return "", nil
}

// exhaustedResource returns the first resource, by name, of which a quota has less left than a pod requests.
func exhaustedResource(pod corev1.ResourceList, quota *corev1.ResourceQuotaStatus) (corev1.ResourceName, bool) {
	for _, name := range slices.Sorted(maps.Keys(pod)) {
		left, bounded := quota.Hard[name]
		if !bounded {
			continue
		}
		left = left.DeepCopy()
		left.Sub(quota.Used[name])
		if amount := pod[name]; left.Cmp(amount) < 0 {
			return name, true
		}
	}
	return "", false
}

// quotaResources returns the resources of a pod under the names that quotas use.
func quotaResources(r corev1.ResourceRequirements) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range r.Requests {
		out[corev1.DefaultResourceRequestsPrefix+name] = amount
		if isOvercommittable(name) {
			out[name] = amount // In quotas, cpu is another name for requests.cpu.
		}
	}
	for name, amount := range r.Limits {
		out["limits."+name] = amount
	}
	return out
}

// quotaCounts reports whether a quota applies to pods that have a certain priority class, have requests, and have no deadline.
func quotaCounts(quota *corev1.ResourceQuotaSpec, class string) bool {
	for _, scope := range quota.Scopes {
		if scope == corev1.ResourceQuotaScopeBestEffort || scope == corev1.ResourceQuotaScopeTerminating {
			return false
		}
	}
	if quota.ScopeSelector == nil {
		return true
	}
	for _, e := range quota.ScopeSelector.MatchExpressions {
		named := slices.Contains(e.Values, class)
		switch {
		case e.ScopeName == corev1.ResourceQuotaScopeBestEffort, e.ScopeName == corev1.ResourceQuotaScopeTerminating:
			return false
		case e.ScopeName != corev1.ResourceQuotaScopePriorityClass:
		case e.Operator == corev1.ScopeSelectorOpIn && !named, e.Operator == corev1.ScopeSelectorOpNotIn && named,
			e.Operator == corev1.ScopeSelectorOpDoesNotExist:
			return false
		}
	}
	return true
}
