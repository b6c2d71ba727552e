package pool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/resource"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// wholeGPU is the one resource of which it is known that it is GPUs, unless a device plugin shares them under this name.
const wholeGPU = corev1.ResourceName("nvidia.com/gpu")

// chunk judges the pod of a chunk, and says how many GPUs it is.
func (r *reader) chunk(path *field.Path, chunk *v1alpha1.Chunk) float64 {
	r.template(path.Child("podTemplate"), &chunk.PodTemplate)
	requests := requestsOf(&chunk.PodTemplate)
	if chunk.GPUEquivalent != nil {
		return r.amount(path.Child("gpuEquivalent"), *chunk.GPUEquivalent, leastPart, mostPart)
	}
	if len(requests) == 0 && len(chunk.PodTemplate.Spec.ResourceClaims) == 0 {
		return 0 // The template has a problem already.
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if name != wholeGPU && sharesGPU(name) {
			r.Add(field.Required(path.Child("gpuEquivalent"), fmt.Sprintf(
				"say how many physical GPUs a chunk is: %s is a part of one, for example \"0.25\"", name)))
			return 0
		}
	}
	if gpus := requests[wholeGPU]; !gpus.IsZero() {
		const whole = 1 // Of a resource with a slash in its name.
		return r.amount(path.Child("podTemplate", "spec", "containers"), gpus, whole, mostPart)
	}
	r.Add(field.Required(path.Child("gpuEquivalent"), fmt.Sprintf(
		"say how many physical GPUs a chunk is: its pod asks for no %s, and idle time is counted in them", wholeGPU)))
	return 0
}

// sharesGPU says whether a resource is known to be a part of a GPU: a MIG instance, or a GPU that is shared under a name of
// its own (nvidia.com/gpu.shared).
func sharesGPU(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), "nvidia.com/mig-") || strings.HasSuffix(string(name), ".shared")
}

// template judges the pod of a chunk as far as it must hold a place on a node.
func (r *reader) template(path *field.Path, template *corev1.PodTemplateSpec) {
	spec, at := &template.Spec, path.Child("spec")
	switch {
	case len(spec.Containers) == 0:
		r.Add(field.Required(at.Child("containers"),
			"write a pod that takes a chunk: a container with the resources of one replica"))
	case len(requestsOf(template)) == 0 && len(spec.ResourceClaims) == 0:
		r.Add(field.Required(at.Child("containers").Index(0).Child("resources", "requests"),
			"say what a chunk takes, for example nvidia.com/gpu: \"1\": a pod that asks for nothing holds nothing"))
	}
	for name, amount := range requestsOf(template) {
		if amount.Sign() < 0 || strings.Contains(string(name), "/") && amount.MilliValue()%1000 != 0 {
			r.Add(field.Invalid(at.Child("containers"), amount.String(),
				fmt.Sprintf("of %s a pod can ask for whole numbers only", name)))
		}
	}
	if spec.NodeName != "" {
		r.Add(field.Forbidden(at.Child("nodeName"),
			"a chunk is on whichever node has room: write a nodeSelector instead"))
	}
}

// requestsOf is what a pod of a template asks for, all containers together and without what is zero, as the scheduler
// counts it. A limit alone is a request, too.
func requestsOf(template *corev1.PodTemplateSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Resources.Requests = withLimits(&containers[i].Resources)
		}
	}
	if pod.Spec.Resources != nil {
		pod.Spec.Resources.Requests = withLimits(pod.Spec.Resources)
	}
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	maps.DeleteFunc(requests, func(_ corev1.ResourceName, amount quantity.Quantity) bool { return amount.IsZero() })
	return requests
}

func withLimits(of *corev1.ResourceRequirements) corev1.ResourceList {
	out := maps.Clone(of.Limits)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, of.Requests)
	return out
}
