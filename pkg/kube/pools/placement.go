package pools

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

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

// rewriter turns terms about the template's own pods into terms about placeholder pods.
type rewriter struct {
	namespace string
	labels    labels.Set
	own       map[string]string
}

// rewrite turns terms into those of placeholder pods. keep: terms about the template's pods stay beside the new ones.
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

// terms returns the terms of placeholder pods for a term. It drops the keys that are matched with the scheduled pod's
// own labels: a placeholder pod has others.
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
