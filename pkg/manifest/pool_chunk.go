package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/resource"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// wholeGPU is the resource for whole GPUs, unless a device plugin uses this name for shared GPUs.
const wholeGPU = corev1.ResourceName("nvidia.com/gpu")

// chunk checks the pod of a chunk, and returns how many GPUs the chunk has.
func (r *poolReader) chunk(path *field.Path, chunk *v1alpha1.Chunk) float64 {
	r.template(path.Child("podTemplate"), &chunk.PodTemplate)
	requests := requestsOf(&chunk.PodTemplate)
	if chunk.GPUEquivalent != nil {
		return r.amount(path.Child("gpuEquivalent"), *chunk.GPUEquivalent, minPart, maxPart)
	}
	if len(requests) == 0 && len(chunk.PodTemplate.Spec.ResourceClaims) == 0 {
		return 0 // The template already has a problem.
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if name != wholeGPU && isPartOfGPU(name) {
			r.Add(field.Required(path.Child("gpuEquivalent"), fmt.Sprintf(
				"write how many physical GPUs a chunk is, for example \"0.25\": %s is only a part of a GPU", name)))
			return 0
		}
	}
	if gpus := requests[wholeGPU]; !gpus.IsZero() {
		const whole = 1 // Resources with a slash in their name must be integers.
		return r.amount(path.Child("podTemplate", "spec", "containers"), gpus, whole, maxPart)
	}
	r.Add(field.Required(path.Child("gpuEquivalent"), fmt.Sprintf(
		"write how many physical GPUs a chunk is: its pod requests no %s, and Forewarm counts idle time in "+
			"GPU-hours", wholeGPU)))
	return 0
}

// isPartOfGPU reports whether a resource is known to be a part of a GPU: a MIG instance, a GPU that is shared under another name
// (nvidia.com/gpu.shared), or a share from a scheduler extender.
func isPartOfGPU(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), "nvidia.com/mig-") || strings.HasSuffix(string(name), ".shared") ||
		SharedByExtender(name)
}

// SharedByExtender reports whether a resource is how much of a GPU a pod gets from HAMi (MiB or percent of each of its
// nvidia.com/gpu, which are shares then), Volcano, or vCUDA (hundredths, and blocks of 256 MiB).
//
// The names are the defaults of Project-HAMi/HAMi (charts/hami/values.yaml), volcano-sh/volcano
// (docs/user-guide/how_to_use_volcano_vgpu.md) and tkestack/gpu-manager (pkg/types/types.go).
func SharedByExtender(name corev1.ResourceName) bool {
	prefixes := []string{"nvidia.com/gpumem", "nvidia.com/gpucores", "volcano.sh/vgpu-", "tencent.com/vcuda-"}
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(string(name), p) })
}

// template checks the fields of a chunk's pod that affect on which nodes it can run.
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
		r.Add(field.Forbidden(at.Child("nodeName"), "a chunk is not bound to one node: write a nodeSelector instead"))
	}
}

// requestsOf returns the requests of a template's pod, summed over the containers in the same way as the scheduler does, without zeros. A
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
	out := corev1.ResourceList{}
	maps.Copy(out, of.Limits)
	maps.Copy(out, of.Requests)
	return out
}

// Defaults of a pool.
const (
	defaultPoolQuantile     = "0.975"
	defaultPoolMode         = v1alpha1.PoolRecommend
	defaultPriorityClass    = "forewarm-placeholder"
	defaultPlaceholderImage = "registry.k8s.io/pause:3.10"
)

// Limits of a pool.
const (
	// MaxPoolMembers bounds the Forecasts of a pool, MaxPoolChunks what it holds.
	MaxPoolMembers   = 64
	MaxPoolChunks    = 10_000
	maxPrePullImages = 8
	maxImage         = 1024 // The length of an image in bytes, as in the schema.
	maxName          = 253  // The length of a strategy's name in bytes, as in the schema.
	minPart          = 0.001
	maxPart          = 1000 // The chunks of a replica, or the GPUs of a chunk.
	maxBudget        = 1e9  // In GPU-hours per day.
	minNodeLead      = time.Second
)

// poolWithDefaults returns a copy of a pool with its defaults. It keeps contradictions so that ResolvePool can find them.
func poolWithDefaults(object *v1alpha1.WarmPool) *v1alpha1.WarmPool {
	pool := object.DeepCopy()
	s := &pool.Spec
	s.Quantile = cmp.Or(s.Quantile, defaultPoolQuantile)
	s.Mode = cmp.Or(s.Mode, defaultPoolMode)
	if s.Min == nil {
		s.Min = new(int32(0))
	}
	if s.Fallback == nil {
		s.Fallback = new(*s.Min)
	}
	if s.LeadTime == nil {
		s.LeadTime = &v1alpha1.LeadTime{}
	}
	s.LeadTime.Mode = cmp.Or(s.LeadTime.Mode, v1alpha1.LeadTimeAuto)
	if s.LeadTime.Mode == v1alpha1.LeadTimeAuto {
		s.LeadTime.Fallback = cmp.Or(s.LeadTime.Fallback, DefaultFallback)
	}
	if s.Actuator == nil {
		s.Actuator = &v1alpha1.Actuator{PlaceholderPods: &v1alpha1.PlaceholderPods{}}
	}
	if b := s.Actuator.PlaceholderPods; b != nil {
		b.PriorityClassName = cmp.Or(b.PriorityClassName, defaultPriorityClass)
		b.Image = cmp.Or(b.Image, defaultPlaceholderImage)
	}
	if scale := s.Actuator.Scale; scale != nil {
		scale.TargetRef.APIVersion = cmp.Or(scale.TargetRef.APIVersion, DefaultAPIVersion)
	}
	return pool
}

// capacityTypes reads how the chunks are split among capacity types, and reports whether they are split.
func (r *poolReader) capacityTypes(path *field.Path, spec *v1alpha1.WarmPoolSpec) (split bool) {
	const most = 2
	types := spec.CapacityTypes
	if len(types) > most {
		r.Add(field.TooMany(path, len(types), most))
		return false
	}
	for i, t := range types {
		at := path.Index(i)
		r.AddMessages(at.Child("name"), t.Name, validation.IsDNS1123Label(t.Name))
		r.nodeSelector(at.Child("nodeSelector"), t.NodeSelector, spec.Chunk.PodTemplate.Spec.NodeSelector)
		if len(types) == most && len(t.NodeSelector) == 0 {
			r.Add(field.Required(at.Child("nodeSelector"),
				"select the nodes of this capacity type, for example karpenter.sh/capacity-type: spot"))
		}
	}
	if len(types) == most && types[0].Name == types[1].Name {
		r.Add(field.Duplicate(path.Index(1).Child("name"), types[1].Name))
	}
	return len(types) == most
}

// nodeSelector checks a node selector that is added to the template's.
func (f *Fields) nodeSelector(path *field.Path, selector, template map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		f.AddMessages(path, key, validation.IsQualifiedName(key))
		f.AddMessages(path.Key(key), selector[key], validation.IsValidLabelValue(selector[key]))
		if other, also := template[key]; also && other != selector[key] {
			f.Invalid(path.Key(key), selector[key], "the pod template has %s for the same key, and no node can have "+
				"both", other)
		}
	}
}

// actuator reads how the chunks are held.
func (r *poolReader) actuator(path *field.Path, spec *v1alpha1.WarmPoolSpec) PoolActuator {
	var given []PoolActuator
	a := spec.Actuator
	if a.PlaceholderPods != nil {
		given = append(given, ActuatorPlaceholderPods)
		r.placeholderPods(path.Child("placeholderPods"), a.PlaceholderPods)
	}
	if a.CapacityBuffer != nil {
		given = append(given, ActuatorCapacityBuffer)
		strategy := a.CapacityBuffer.ProvisioningStrategy
		r.maxLength(path.Child("capacityBuffer", "provisioningStrategy"), strategy, maxName)
	}
	if a.Scale != nil {
		given = append(given, ActuatorScale)
		ref := path.Child("scale", "targetRef")
		r.Kind(ref.Child("kind"), a.Scale.TargetRef.Kind, "name the kind of the target, for example Deployment")
		r.Name(ref.Child("name"), a.Scale.TargetRef.Name, "name the target")
		if len(spec.CapacityTypes) > 0 {
			const one = "the scale actuator supports only one capacity type: remove capacityTypes"
			r.Add(field.Forbidden(path.Root().Child("capacityTypes"), one))
		}
	}
	if len(given) != 1 {
		r.Add(field.Invalid(path, given, "set exactly one of placeholderPods, capacityBuffer and scale"))
		return ""
	}
	return given[0]
}

func (r *poolReader) placeholderPods(path *field.Path, b *v1alpha1.PlaceholderPods) {
	class := b.PriorityClassName
	r.AddMessages(path.Child("priorityClassName"), class, validation.IsDNS1123Subdomain(class))
	r.maxLength(path.Child("image"), b.Image, maxImage)
	if len(b.PrePullImages) > maxPrePullImages {
		r.Add(field.TooMany(path.Child("prePullImages"), len(b.PrePullImages), maxPrePullImages))
		return
	}
	for i, image := range b.PrePullImages {
		at := path.Child("prePullImages").Index(i)
		r.maxLength(at, image, maxImage)
		switch {
		case strings.TrimSpace(image) != image || image == "":
			r.Add(field.Invalid(at, image, "write an image, for example vllm/vllm-openai:v0.11.0"))
		case slices.Contains(b.PrePullImages[:i], image):
			r.Add(field.Duplicate(at, image))
		}
	}
}

// maxLength checks the length of a text.
func (f *Fields) maxLength(path *field.Path, text string, most int) {
	if len(text) > most {
		f.Add(field.TooLong(path, text, most))
	}
}
