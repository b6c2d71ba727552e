package actuator

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Balloon holds chunks by placeholder pods of negative priority: one Deployment for each capacity type, whose pods take
// what the chunk's pod takes and do nothing. The scheduler preempts them for real pods, the Deployment makes them anew, and
// while they find no place the cluster's autoscaler makes a node for them. So a pool refills by itself.
type Balloon struct {
	client      kubernetes.Interface
	deployments *owned
	images      *images
	now         func() time.Time
}

// Hold makes the Deployments as they are wanted, and deletes those of capacity types that the pool does not have any more.
func (b *Balloon) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error) {
	if err := checkClass(ctx, b.client, pool.Spec.Actuator.Balloon.PriorityClassName); err != nil {
		return Held{}, err
	}
	found, err := b.deployments.list(ctx, pool)
	if err != nil {
		return Held{}, err
	}
	err = b.deployments.hold(ctx, pool, found, func(capacity v1alpha1.CapacityType, replicas int) (any, error) {
		d := balloons(pool, capacity, replicas)
		return d, b.images.fit(ctx, pool, d)
	}, want)
	if err != nil {
		return Held{}, err
	}
	if err = b.deployments.prune(ctx, pool, found); err != nil {
		return Held{}, err
	}
	return b.held(ctx, pool, found)
}

// Look counts what there is.
func (b *Balloon) Look(ctx context.Context, pool *v1alpha1.WarmPool) (Held, error) {
	found, err := b.deployments.list(ctx, pool)
	if err != nil {
		return Held{}, err
	}
	return b.held(ctx, pool, found)
}

// Release deletes the Deployments; their pods go after them.
func (b *Balloon) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	return b.deployments.release(ctx, pool)
}

// held counts the placeholders of each capacity type: those asked for, and those that run.
func (b *Balloon) held(ctx context.Context, pool *v1alpha1.WarmPool, found objects) (Held, error) {
	total := int32(0)
	out, err := count(pool, found, func(object *unstructured.Unstructured) (one Count, remark string, err error) {
		d, err := decode[appsv1.Deployment](object.Object)
		if err != nil {
			return Count{}, "", err
		}
		if d.Spec.Replicas != nil {
			one.Held = *d.Spec.Replicas
		}
		// While it shrinks there are more than are asked for.
		one.Ready = min(one.Held, d.Status.AvailableReplicas)
		total += one.Held
		remark, err = b.remark(ctx, pool, d, one)
		return one, remark, err
	})
	if err != nil || total == 0 {
		return out, err
	}
	remark, err := crowded(ctx, b.client, pool)
	if err != nil {
		return Held{}, err
	}
	out.Remark = join(out.Remark, "", remark)
	return out, nil
}

// balloons is the Deployment of a capacity type. A change of its template takes placeholders away before it makes new ones:
// the other way round, it would ask for as many nodes again.
func balloons(pool *v1alpha1.WarmPool, capacity v1alpha1.CapacityType, replicas int) *appsv1.Deployment {
	own, pod, spec := selecting(pool, capacity.Name), shape(pool, capacity), pool.Spec.Actuator.Balloon
	pod.Spec.PriorityClassName, pod.Spec.Containers[0].Image = spec.PriorityClassName, spec.Image
	mount(&pod.Spec, spec.Pull)
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

// mount has images pulled without being run: the kubelet pulls what a container mounts.
func mount(spec *corev1.PodSpec, images []string) {
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
