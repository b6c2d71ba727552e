package actuator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// place gives a placeholder the template's affinity and topology spread. Both speak of pods by their labels, as a rule by
// the template's own, which a placeholder does not have:
//
//   - Spread constraints count placeholders: these spread over zones by themselves, so that whichever zone a real pod must
//     go to holds some.
//   - Affinity to the template's own pods becomes affinity to the other placeholders: a gang's places lie together, also
//     while nobody runs.
//   - Anti-affinity to the template's own pods stays, since a real pod could not go there either, and holds between
//     placeholders as well.
//   - Terms about other pods stay as they are.
func place(out *corev1.PodSpec, pool *v1alpha1.WarmPool, own map[string]string) {
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
		r.rewrite(
			&a.RequiredDuringSchedulingIgnoredDuringExecution,
			&a.PreferredDuringSchedulingIgnoredDuringExecution,
			false,
		)
	}
	if a := out.Affinity.PodAntiAffinity; a != nil {
		r.rewrite(
			&a.RequiredDuringSchedulingIgnoredDuringExecution,
			&a.PreferredDuringSchedulingIgnoredDuringExecution,
			true,
		)
	}
}

// rewriter makes terms about the template's own pods terms about placeholders.
type rewriter struct {
	namespace string
	labels    labels.Set
	own       map[string]string
}

// rewrite makes terms the placeholders'; keep says whether those about the template's pods stay beside their own.
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

// terms are what a term is for placeholders. The keys whose values are the scheduled pod's own are left out: a placeholder
// has others.
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

// self says whether a term speaks of the template's own pods.
func (r rewriter) self(term *corev1.PodAffinityTerm) bool {
	if len(r.labels) == 0 || len(term.Namespaces) > 0 && !slices.Contains(term.Namespaces, r.namespace) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	return err == nil && !selector.Empty() && selector.Matches(r.labels)
}
