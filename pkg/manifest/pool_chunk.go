package manifest

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

// wholeGPU is the resource that counts whole GPUs, unless a device plugin shares them under this name.
const wholeGPU = corev1.ResourceName("nvidia.com/gpu")

// chunk checks the pod of a chunk, and returns how many GPUs it is.
func (r *poolReader) chunk(path *field.Path, chunk *v1alpha1.Chunk) float64 {
	r.template(path.Child("podTemplate"), &chunk.PodTemplate)
	requests := requestsOf(&chunk.PodTemplate)
	if chunk.GPUEquivalent != nil {
		return r.amount(path.Child("gpuEquivalent"), *chunk.GPUEquivalent, minPart, maxPart)
	}
	if len(requests) == 0 && len(chunk.PodTemplate.Spec.ResourceClaims) == 0 {
		return 0 // The template has a problem already.
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if name != wholeGPU && isPartOfGPU(name) {
			r.Add(field.Required(path.Child("gpuEquivalent"), fmt.Sprintf(
				"write how many physical GPUs a chunk is: %s is a part of one, for example \"0.25\"", name)))
			return 0
		}
	}
	if gpus := requests[wholeGPU]; !gpus.IsZero() {
		const whole = 1 // Resources with a slash in their name are whole numbers.
		return r.amount(path.Child("podTemplate", "spec", "containers"), gpus, whole, maxPart)
	}
	r.Add(field.Required(path.Child("gpuEquivalent"), fmt.Sprintf(
		"write how many physical GPUs a chunk is: its pod requests no %s, and idle time is counted in GPUs", wholeGPU)))
	return 0
}

// isPartOfGPU reports whether a resource is known to be a part of a GPU: a MIG instance, or a GPU that is shared
// under another name (nvidia.com/gpu.shared).
func isPartOfGPU(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), "nvidia.com/mig-") || strings.HasSuffix(string(name), ".shared")
}

// template checks the fields of a chunk's pod that matter for its place on a node.
func (r *poolReader) template(path *field.Path, template *corev1.PodTemplateSpec) {
	spec, at := &template.Spec, path.Child("spec")
	switch {
	case len(spec.Containers) == 0:
		r.Add(field.Required(at.Child("containers"),
			"write a pod that takes one chunk: a container with the resources of one replica"))
	case len(requestsOf(template)) == 0 && len(spec.ResourceClaims) == 0:
		r.Add(field.Required(at.Child("containers").Index(0).Child("resources", "requests"),
			"write the resources of a chunk, for example nvidia.com/gpu: \"1\": a pod without requests holds nothing"))
	}
	for name, amount := range requestsOf(template) {
		if amount.Sign() < 0 || strings.Contains(string(name), "/") && amount.MilliValue()%1000 != 0 {
			r.Add(field.Invalid(at.Child("containers"), amount.String(),
				fmt.Sprintf("a pod can request %s in whole numbers only", name)))
		}
	}
	if spec.NodeName != "" {
		r.Add(field.Forbidden(at.Child("nodeName"),
			"a chunk is not bound to one node: write a nodeSelector instead"))
	}
}

// requestsOf returns the requests of a template's pod, summed over containers like in the scheduler, without zeros. A
// limit without a request counts as a request.
func requestsOf(template *corev1.PodTemplateSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Resources.Requests = requestsWithLimits(&containers[i].Resources)
		}
	}
	if pod.Spec.Resources != nil {
		pod.Spec.Resources.Requests = requestsWithLimits(pod.Spec.Resources)
	}
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	maps.DeleteFunc(requests, func(_ corev1.ResourceName, amount quantity.Quantity) bool { return amount.IsZero() })
	return requests
}

func requestsWithLimits(of *corev1.ResourceRequirements) corev1.ResourceList {
	out := maps.Clone(of.Limits)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, of.Requests)
	return out
}
