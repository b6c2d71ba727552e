package manifest

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// metricName matches the name of an External metric. Prometheus allows these names, and so do names of objects. The name is part of a URL
// path.
var metricName = regexp.MustCompile(`^[A-Za-z0-9_:][A-Za-z0-9_:.-]{0,252}$`)

// alias reads spec.expose; nil if it is absent or has problems.
func (r *reader) alias(path *field.Path, object *v1alpha1.Forecast) *snapshot.Alias {
	expose := object.Spec.Expose
	if expose == nil {
		return nil
	}
	before := len(r.Problems)
	if !metricName.MatchString(expose.Metric) {
		r.Invalid(path.Child("metric"), expose.Metric,
			"write the name of the HPA's metric, at most 253 letters, digits, _, :, . and -")
	}
	labels := path.Child("matchLabels")
	if len(expose.MatchLabels) > MaxLabels {
		r.Add(field.TooMany(labels, len(expose.MatchLabels), MaxLabels))
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(expose.MatchLabels)) {
		for _, problem := range metav1validation.ValidateLabels(map[string]string{key: expose.MatchLabels[key]}, labels) {
			r.Add(problem)
		}
		if views := decide.ViewKeys(); slices.Contains(views, key) {
			r.Invalid(labels, key, "the labels %s request another view of a Forecast: remove this label",
				strings.Join(views, ", "))
		}
	}
	if len(r.Problems) > before {
		return nil
	}
	return &snapshot.Alias{Metric: expose.Metric, Labels: expose.MatchLabels, Created: object.CreationTimestamp.Time}
}
