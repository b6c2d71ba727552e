package actuator

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Balloon holds chunks by placeholder pods of negative priority: one Deployment for each capacity type, whose pods take
// what the chunk's pod takes and do nothing. The scheduler preempts them for real pods, the Deployment makes them anew, and
// while they find no place the cluster's autoscaler makes a node for them. So a pool refills by itself.
type Balloon struct {
	client      kubernetes.Interface
	deployments *owned
	classes     *classes
	images      *images
	now         func() time.Time
}

// NewBalloon holds chunks by the clients of one cluster.
func NewBalloon(client kubernetes.Interface, objects dynamic.Interface, now func() time.Time) *Balloon {
	deployments := newOwned(objects, appsv1.SchemeGroupVersion.WithResource("deployments"), "Deployment")
	return &Balloon{
		client: client, deployments: deployments, now: now,
		classes: newClasses(client, now), images: &images{deployments: deployments},
	}
}

// Hold makes the Deployments as they are wanted, and deletes those of capacity types that the pool does not have any more.
func (b *Balloon) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error) {
	if err := b.classes.check(ctx, priorityClass(pool)); err != nil {
		return Held{}, err
	}
	found, err := b.deployments.list(ctx, pool)
	if err != nil {
		return Held{}, err
	}
	all, stay := capacities(pool), map[string]bool{}
	for i, capacity := range all {
		name := nameFor(pool, capacity.Name)
		stay[name] = true
		wanted := balloons(pool, capacity, want.share(i, len(all)))
		if err = b.images.fit(ctx, pool, wanted); err != nil {
			return Held{}, err
		}
		if found[name], err = b.deployments.apply(ctx, pool, wanted, found[name]); err != nil {
			return Held{}, err
		}
	}
	if err = b.deployments.remove(ctx, pool, found, stay); err != nil {
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
func (b *Balloon) held(
	ctx context.Context, pool *v1alpha1.WarmPool, found map[string]*unstructured.Unstructured,
) (Held, error) {
	var out Held
	held := 0
	for _, capacity := range capacities(pool) {
		count := Count{Name: capacity.Name}
		if object := found[nameFor(pool, capacity.Name)]; object != nil {
			d := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, d); err != nil {
				return Held{}, fmt.Errorf("read the Deployment %s: %w", object.GetName(), err)
			}
			if d.Spec.Replicas != nil {
				count.Held = int(*d.Spec.Replicas)
			}
			// While it shrinks there are more than are asked for.
			count.Ready = min(count.Held, int(d.Status.AvailableReplicas))
			remark, err := b.remark(ctx, pool, d, count)
			if err != nil {
				return Held{}, err
			}
			out.Remark = join(out.Remark, capacity.Name, remark)
		}
		out.Types = append(out.Types, count)
		held += count.Held
	}
	if held > 0 {
		remark, err := crowded(ctx, b.client, pool)
		if err != nil {
			return Held{}, err
		}
		out.Remark = join(out.Remark, "", remark)
	}
	return out, nil
}

// balloons is the Deployment of a capacity type. A change of its template takes placeholders away before it makes new ones:
// the other way round, it would ask for as many nodes again.
func balloons(pool *v1alpha1.WarmPool, capacity v1alpha1.CapacityType, replicas int) *appsv1.Deployment {
	own, pod := selecting(pool, capacity.Name), shape(pool, capacity)
	spec := balloonOf(pool)
	pod.Spec.PriorityClassName = priorityClass(pool)
	if spec.Image != "" {
		pod.Spec.Containers[0].Image = spec.Image
	}
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

// balloonOf is what a pool says of its placeholders; nothing where it leaves all to the defaults.
func balloonOf(pool *v1alpha1.WarmPool) v1alpha1.Balloon {
	if a := pool.Spec.Actuator; a != nil && a.Balloon != nil {
		return *a.Balloon
	}
	return v1alpha1.Balloon{}
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
