package pools

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	v1helper "k8s.io/component-helpers/resource"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// pauseImage is an image that does nothing.
const pauseImage = "registry.k8s.io/pause:3.10"

// containerName is the name of a placeholder pod's only container.
const containerName = "pause"

// placeholderTemplate returns a pod that requests the same resources on the same nodes as a pod of a chunk, and does nothing. These parts
// are taken from the template: the resources, summed on a single container in the same way as the scheduler does;
// the node selector, together with that of the capacity type; affinity and topology spread, adapted (see adaptPlacement); tolerations, the
// scheduler's name, and the runtime class. The runtime class is kept although nothing needs it, because it may have an overhead and its own
// nodes, and because a placeholder pod that has started proves that a real pod can start.
//
// The template's labels, containers and volumes are left out, so that a disk in one zone does not bind a placeholder pod to the zone. Only
// the labels and annotations that the scheduler and the queue read are kept.
func placeholderTemplate(pool *v1alpha1.WarmPool, capacity v1alpha1.CapacityType) corev1.PodTemplateSpec {
	from := &pool.Spec.Chunk.PodTemplate
	own := selectorLabels(pool, capacity.Name)
	out := corev1.PodTemplateSpec{}
	out.Labels, out.Annotations = union(ofSchedulers(from.Labels), objectLabels(own)), ofSchedulers(from.Annotations)
	out.Spec = corev1.PodSpec{
		NodeSelector:                  union(from.Spec.NodeSelector, capacity.NodeSelector),
		Tolerations:                   from.Spec.Tolerations,
		SchedulerName:                 from.Spec.SchedulerName,
		RuntimeClassName:              from.Spec.RuntimeClassName,
		ImagePullSecrets:              from.Spec.ImagePullSecrets,
		ResourceClaims:                templateClaims(from.Spec.ResourceClaims),
		TerminationGracePeriodSeconds: new(int64(0)),
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65535)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{
			{
				Name:            containerName,
				Image:           pauseImage,
				ImagePullPolicy: corev1.PullIfNotPresent,
				Resources:       chunkResources(&from.Spec),
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			},
		},
	}
	adaptPlacement(&out.Spec, pool, own)
	return out
}

// ofSchedulers returns the labels or annotations that tell a scheduler or a queue which group, queue or class of service a pod belongs to.
// It knows coscheduling, Volcano, Koordinator, Katalyst and Kueue.
func ofSchedulers(all map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		domain, _, _ := strings.Cut(key, "/")
		for _, of := range []string{
			"scheduling.x-k8s.io", "scheduling.sigs.k8s.io", "scheduling.k8s.io", "volcano.sh", "koordinator.sh",
			"katalyst.kubewharf.io", "kueue.x-k8s.io",
		} {
			if strings.HasSuffix("."+domain, "."+of) {
				out[key] = value
			}
		}
	}
	return union(out, nil)
}

// chunkResources returns the resources of a pod, summed on one container. If a request is missing, the limit is used, which is the API
// server's default for pods (but not for templates). GPUs and other resources that cannot be overcommitted get a limit equal to the
// request. Other resources keep their limit, or get the request as the limit if it is higher, because quotas may apply to limits.
func chunkResources(spec *corev1.PodSpec) corev1.ResourceRequirements {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	pod.Spec.Overhead = nil // The runtime class will add the overhead again.
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
		if !isOvercommittable(name) || limited && limit.Cmp(amount) < 0 {
			out.Limits[name] = amount
		}
	}
	for _, c := range templateClaims(spec.ResourceClaims) {
		out.Claims = append(out.Claims, corev1.ResourceClaim{Name: c.Name})
	}
	return out
}

// isOvercommittable reports whether the limit of a resource may differ from its request.
func isOvercommittable(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// templateClaims returns the claims that are created for each pod. A claim that pods share also exists without a placeholder pod.
func templateClaims(all []corev1.PodResourceClaim) []corev1.PodResourceClaim {
	return slices.DeleteFunc(slices.Clone(all), func(c corev1.PodResourceClaim) bool {
		return c.ResourceClaimTemplateName == nil
	})
}

// objectLabels returns the labels of a pool's objects.
func objectLabels(own map[string]string) map[string]string {
	return union(own, map[string]string{labelManager: managedBy, "app.kubernetes.io/name": "warm-pool"})
}

// union returns the entries of both maps. If both have a key, the second map wins.
func union[K comparable, V any, M ~map[K]V](a, b M) M {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := M{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// adaptPlacement gives a placeholder pod the template's affinity and topology spread. Both select pods by labels,
// mostly those of the template, which a placeholder pod does not have:
//
//   - Spread constraints count placeholder pods, so that these spread over zones and each zone holds some.
//   - Affinity to the template's own pods becomes affinity to the other placeholder pods: a gang's places are together,
//     also while no replica runs.
//   - Anti-affinity to the template's own pods stays, because a real pod could not go there either, and also applies
//     between placeholder pods.
//   - Terms about other pods stay as they are.
func adaptPlacement(out *corev1.PodSpec, pool *v1alpha1.WarmPool, own map[string]string) {
	from := pool.Spec.Chunk.PodTemplate.DeepCopy()
	out.TopologySpreadConstraints = from.Spec.TopologySpreadConstraints
	for i := range out.TopologySpreadConstraints {
		c := &out.TopologySpreadConstraints[i]
		c.LabelSelector, c.MatchLabelKeys = &metav1.LabelSelector{MatchLabels: own}, nil
	}
	out.Affinity = from.Spec.Affinity
	if out.Affinity == nil {
		return
	}
	r := rewriter{namespace: pool.Namespace, labels: labels.Set(from.Labels), own: own}
	if a := out.Affinity.PodAffinity; a != nil {
		r.rewrite(&a.RequiredDuringSchedulingIgnoredDuringExecution,
			&a.PreferredDuringSchedulingIgnoredDuringExecution, false)
	}
	if a := out.Affinity.PodAntiAffinity; a != nil {
		r.rewrite(&a.RequiredDuringSchedulingIgnoredDuringExecution,
			&a.PreferredDuringSchedulingIgnoredDuringExecution, true)
	}
}

// rewriter rewrites terms about the template's own pods to terms about placeholder pods.
type rewriter struct {
	namespace string
	labels    labels.Set
	own       map[string]string
}

// rewrite rewrites the terms to terms about placeholder pods. If keep is true, it also keeps the terms about the template's own pods.
func (r rewriter) rewrite(required *[]corev1.PodAffinityTerm, preferred *[]corev1.WeightedPodAffinityTerm, keep bool) {
	var terms []corev1.PodAffinityTerm
	for _, term := range *required {
		terms = append(terms, r.terms(term, keep)...)
	}
	var weighted []corev1.WeightedPodAffinityTerm
	for _, w := range *preferred {
		for _, term := range r.terms(w.PodAffinityTerm, keep) {
			weighted = append(weighted, corev1.WeightedPodAffinityTerm{Weight: w.Weight, PodAffinityTerm: term})
		}
	}
	*required, *preferred = terms, weighted
}

// terms returns the terms of a placeholder pod for one term of the template. It drops the keys that are matched with the scheduled pod's
// own labels, because a placeholder pod has other labels.
func (r rewriter) terms(term corev1.PodAffinityTerm, keep bool) []corev1.PodAffinityTerm {
	other := term
	other.MatchLabelKeys, other.MismatchLabelKeys = nil, nil
	if !r.self(&term) {
		return []corev1.PodAffinityTerm{other}
	}
	own := corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: r.own},
		TopologyKey:   term.TopologyKey,
	}
	if keep {
		return []corev1.PodAffinityTerm{other, own}
	}
	return []corev1.PodAffinityTerm{own}
}

// self reports whether a term selects the template's own pods.
func (r rewriter) self(term *corev1.PodAffinityTerm) bool {
	if len(r.labels) == 0 || len(term.Namespaces) > 0 && !slices.Contains(term.Namespaces, r.namespace) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	return err == nil && !selector.Empty() && selector.Matches(r.labels)
}
