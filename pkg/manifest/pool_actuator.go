package manifest

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// capacityTypes reads how the chunks are split, and reports whether they are.
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
func (r *poolReader) nodeSelector(path *field.Path, selector, template map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		r.AddMessages(path, key, validation.IsQualifiedName(key))
		r.AddMessages(path.Key(key), selector[key], validation.IsValidLabelValue(selector[key]))
		if other, also := template[key]; also && other != selector[key] {
			r.Invalid(path.Key(key), selector[key], "the pod template has %s for the same key: no node has both", other)
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
		r.maxLength(path.Child("capacityBuffer", "provisioningStrategy"), a.CapacityBuffer.ProvisioningStrategy,
			maxName)
	}
	if a.Scale != nil {
		given = append(given, ActuatorScale)
		r.scale(path.Child("scale"), a.Scale)
		if len(spec.CapacityTypes) > 0 {
			r.Add(field.Forbidden(path.Root().Child("capacityTypes"),
				"the replicas of a scale are of one kind: remove them"))
		}
	}
	if len(given) != 1 {
		r.Add(field.Invalid(path, given, "set exactly one of placeholderPods, capacityBuffer and scale"))
		return ""
	}
	return given[0]
}

func (r *poolReader) placeholderPods(path *field.Path, b *v1alpha1.PlaceholderPods) {
	r.AddMessages(path.Child("priorityClassName"), b.PriorityClassName,
		validation.IsDNS1123Subdomain(b.PriorityClassName))
	r.maxLength(path.Child("image"), b.Image, maxImage)
	if len(b.PrePullImages) > maxPrePullImages {
		r.Add(field.TooMany(path.Child("prePullImages"), len(b.PrePullImages), maxPrePullImages))
		return
	}
	for i, image := range b.PrePullImages {
		r.maxLength(path.Child("prePullImages").Index(i), image, maxImage)
		switch {
		case strings.TrimSpace(image) != image || image == "":
			r.Add(field.Invalid(path.Child("prePullImages").Index(i), image,
				"write an image, for example vllm/vllm-openai:v0.11.0"))
		case slices.Contains(b.PrePullImages[:i], image):
			r.Add(field.Duplicate(path.Child("prePullImages").Index(i), image))
		}
	}
}

// maxLength checks the length of a text.
func (r *poolReader) maxLength(path *field.Path, text string, most int) {
	if len(text) > most {
		r.Add(field.TooLong(path, text, most))
	}
}

func (r *poolReader) scale(path *field.Path, s *v1alpha1.Scale) {
	ref := path.Child("targetRef")
	r.Kind(ref.Child("kind"), s.TargetRef.Kind, "name the kind of the target, for example Deployment")
	r.Name(ref.Child("name"), s.TargetRef.Name, "name the target")
}
