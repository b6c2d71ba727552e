package pools

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// PlaceholderPods holds chunks by placeholder pods of negative priority: one Deployment for each capacity type, whose
// pods have the resources of the chunk's pod and do nothing. The scheduler preempts them for real pods, and the
// Deployment creates them again, behind a gate: the next plan deletes them, or opens the gate. Then the cluster's
// autoscaler adds nodes for them.
type PlaceholderPods struct {
	client      kubernetes.Interface
	deployments *owned
	images      *images
	now         func() time.Time
}

// Hold applies the Deployments, deletes those of capacity types that the pool does not have any more, and opens the gates
// of the pods that are there. Without the right to open gates there are none.
func (b *PlaceholderPods) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error) {
	if err := checkPriorityClass(ctx, b.client, pool.Spec.Actuator.PlaceholderPods.PriorityClassName); err != nil {
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
		return d, b.images.dropUnsupported(ctx, pool, d)
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
		if d.Spec.Replicas != nil {
			one.Held = *d.Spec.Replicas
		}
		// While it shrinks, more are available than requested.
		one.Ready = min(one.Held, d.Status.AvailableReplicas)
		total += one.Held
		remark, err = b.warning(ctx, pool, d, one)
		return one, remark, err
	})
	if err != nil || total == 0 {
		return out, err
	}
	remark, err := QuotaWarning(ctx, b.client, pool)
	if err != nil && !apierrors.IsForbidden(err) { // Without the right, nothing is known of quotas.
		return Actual{}, err
	}
	out.Warning = joinWarnings(out.Warning, "", remark)
	return out, nil
}

// placeholderDeployment returns the Deployment of a capacity type. A rollout deletes placeholder pods before it
// creates new ones; otherwise it would request as many nodes again.
func placeholderDeployment(pool *v1alpha1.WarmPool, capacity v1alpha1.CapacityType, replicas int) *appsv1.Deployment {
	own, pod := selectorLabels(pool, capacity.Name), placeholderTemplate(pool, capacity)
	spec := pool.Spec.Actuator.PlaceholderPods
	pod.Spec.PriorityClassName, pod.Spec.Containers[0].Image = spec.PriorityClassName, spec.Image
	mountImages(&pod.Spec, spec.PrePullImages)
	none, quarter := intstr.FromInt32(0), intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: objectMeta(pool, capacity.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(replicas)), //nolint:gosec // At most 10000: the schema of max.
			Selector: &metav1.LabelSelector{MatchLabels: own},
			Template: pod,
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &none, MaxUnavailable: &quarter},
			},
			RevisionHistoryLimit: new(int32(0)),
		},
	}
}

// mountImages mounts images as volumes: the kubelet pulls them, and does not run them.
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
