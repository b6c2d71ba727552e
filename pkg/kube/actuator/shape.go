package actuator

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	v1helper "k8s.io/component-helpers/resource"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// pause does nothing.
const pause = "registry.k8s.io/pause:3.10"

// container is the name of the only one that a placeholder has.
const container = "pause"

// shape is a pod that takes what a chunk's pod takes, where that may go, and does nothing. Of the template it has the
// resources, as the scheduler sums them up over containers and init containers, on one container; the node selector, with
// the capacity type's; affinity and topology spread, made its own (see placement); tolerations, the scheduler's name, and
// the runtime class. A runtime class is kept although nothing runs that needs one: it may bring an overhead and nodes of its
// own, and a placeholder that has started in it says that a real pod can.
//
// Not of the template are its labels, its containers, and its volumes: a disk of one zone does not bind a placeholder.
func shape(pool *v1alpha1.WarmPool, capacity v1alpha1.CapacityType) corev1.PodTemplateSpec {
	from := &pool.Spec.Chunk.PodTemplate
	own := selecting(pool, capacity.Name)
	out := corev1.PodTemplateSpec{}
	out.Labels = labelled(own)
	out.Spec = corev1.PodSpec{
		NodeSelector:                  union(from.Spec.NodeSelector, capacity.NodeSelector),
		Tolerations:                   from.Spec.Tolerations,
		SchedulerName:                 from.Spec.SchedulerName,
		RuntimeClassName:              from.Spec.RuntimeClassName,
		ImagePullSecrets:              from.Spec.ImagePullSecrets,
		ResourceClaims:                claims(from.Spec.ResourceClaims),
		TerminationGracePeriodSeconds: new(int64(0)),
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65535)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: container, Image: pause, ImagePullPolicy: corev1.PullIfNotPresent, Resources: takes(&from.Spec),
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
	place(&out.Spec, pool, own)
	return out
}

// takes are the resources of a pod on one container. A request that is not there is its limit, as the API server has it
// for pods (a template is not seen by it). GPUs, and whatever else may not be overcommitted, have a limit that is the
// request; so that a quota on limits sees the others, they keep theirs, which are at least what is requested.
func takes(spec *corev1.PodSpec) corev1.ResourceRequirements {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	pod.Spec.Overhead = nil // The runtime class brings it again.
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Resources.Requests = union(containers[i].Resources.Limits, containers[i].Resources.Requests)
		}
	}
	out := corev1.ResourceRequirements{
		Requests: v1helper.PodRequests(pod, v1helper.PodResourcesOptions{}),
		Limits:   v1helper.PodLimits(pod, v1helper.PodResourcesOptions{}),
	}
	for name, amount := range out.Requests {
		limit, limited := out.Limits[name]
		if !overcommitted(name) || limited && limit.Cmp(amount) < 0 {
			out.Limits[name] = amount
		}
	}
	for _, c := range claims(spec.ResourceClaims) {
		out.Claims = append(out.Claims, corev1.ResourceClaim{Name: c.Name})
	}
	return out
}

// overcommitted says whether the limit of a resource may be another than its request.
func overcommitted(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// claims are those that every pod has of its own. A claim that pods share is held without a placeholder.
func claims(all []corev1.PodResourceClaim) []corev1.PodResourceClaim {
	return slices.DeleteFunc(slices.Clone(all), func(c corev1.PodResourceClaim) bool {
		return c.ResourceClaimTemplateName == nil
	})
}

// labelled are the labels of what a pool has made.
func labelled(own map[string]string) map[string]string {
	return union(own, map[string]string{labelManager: manager, "app.kubernetes.io/name": "warm-pool"})
}

// union is what either has; where both do, what the second has.
func union[K comparable, V any, M ~map[K]V](a, b M) M {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := M{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
