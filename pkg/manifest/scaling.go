package manifest

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// MaxReplicas is the default of spec.scaling.maxReplicas: the largest number that the schema allows.
const MaxReplicas = 1_000_000

// autoscalers reads which autoscalers use the value: those in the cluster that refer to the object and scale its workload, or else
// spec.scaling. If there are variants, one autoscaler represents those of all variants.
func (r *reader) autoscalers(
	spec *v1alpha1.ForecastSpec, workload leadtime.Workload, s ClusterState, target *refresh.Job,
) {
	path := field.NewPath("spec", "scaling")
	own, stated := r.ownScaling(path, spec.Scaling)
	target.Baseline = r.before(path.Child("before"), spec.Scaling)
	milli := int64(0)
	if stated {
		milli = own.HPA.Metrics[0].Target
	}
	references := s.references()
	choice := ChooseAutoscalers(referencesOfFirst(references, spec), workload, milli)
	words := choice.Used
	switch {
	case len(choice.Autoscalers) == 0 && stated:
		choice.Autoscalers = []decide.Autoscaler{own}
		words = []string{DescribeAutoscaler(own)}
	case len(choice.Autoscalers) == 0:
		words = []string{"no autoscaler and no spec.scaling"}
	case stated && !slices.ContainsFunc(choice.Autoscalers, func(c decide.Autoscaler) bool { return c.Target() == own.Target() }):
		const unused = "spec.scaling.target %s is not used, because autoscalers read this Forecast"
		words = append(words, fmt.Sprintf(unused, spec.Scaling.Target.String()))
	}
	words = append(words, r.variants(spec, references, &choice, target)...)
	doubts := unusedReasons(choice.Skipped, s.UnreadReason)
	target.DisabledAtZero = disabledAtZero(references)
	target.ScalesToZero, target.NeverZero = scalesToZero(references, len(target.Variants) > 0, doubts)
	target.Autoscalers, target.AutoscalerSource = choice.Autoscalers, strings.Join(append(words, doubts...), "; ")
	// Autoscalers that are not used still read the value, and may have more replicas.
	target.Uncapped = len(choice.Skipped) > 0
	target.Unused = len(references) == 0 && s.UnreadReason == ""
	target.Named = namedModels(references)
	if len(choice.Autoscalers) > 0 {
		target.Settings.Target = choice.Autoscalers[0].Target()
		return
	}
	target.Uncalibrated = uncalibratedMessage(target.Settings, doubts)
}

// scalesToZero reports whether the rule for idle workloads may apply, and says why it does not although an HPA has minReplicas 0. Every
// autoscaler that may read the value must be known and have a minimum of 0: any other one would keep its minimum anyway, or be unable to
// leave zero.
func scalesToZero(references []Reference, variants bool, doubts []string) (may bool, never string) {
	if !slices.ContainsFunc(references, func(r Reference) bool { return r.ScalesToZero && !r.IsScaledObject() }) {
		return false, ""
	}
	i := slices.IndexFunc(references, func(r Reference) bool { return !r.ScalesToZero && r.Refused == "" })
	switch {
	case i >= 0:
		return false, references[i].Autoscaler + " has a minimum of at least 1"
	case variants:
		return false, "the Forecast has variants"
	case len(doubts) > 0: // They may pass soon, so the forecaster keeps its state.
		return true, "some autoscalers that read the value are not known or not used"
	}
	return true, ""
}

// disabledAtZero returns the autoscalers whose controllers read no metrics, because something else scaled the workload to zero.
func disabledAtZero(references []Reference) []string {
	var out []string
	for i := range references {
		if references[i].DisabledAtZero {
			out = append(out, references[i].Autoscaler)
		}
	}
	return slices.Compact(out)
}

// namedModels returns the models that the metrics of autoscalers select, in ascending order. If the objective does not apply to a metric,
// the metric is still served.
func namedModels(references []Reference) []string {
	var out []string
	for i := range references {
		if name := references[i].Candidate; name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unusedReasons returns the first few reasons why autoscalers are not used, and why there may be more of them.
func unusedReasons(passed []string, unread string) []string {
	const shown = 4
	out := slices.Clone(passed[:min(shown, len(passed))])
	if more := len(passed) - shown; more > 0 {
		out = append(out, fmt.Sprintf("%d more autoscalers are not used", more))
	}
	if unread != "" {
		out = append(out, unread)
	}
	return out
}

// uncalibratedMessage says what is served while an objective or a cost ratio cannot be calibrated; empty if the Forecast has neither.
func uncalibratedMessage(policy decide.Settings, doubts []string) string {
	var asked string
	switch {
	case policy.CostRatio > 0:
		asked = fmt.Sprintf("costRatio %.6g", policy.CostRatio)
	case policy.Late > 0 && policy.BadHours:
		asked = fmt.Sprintf("badHours %.4g%%", policy.Late*100)
	case policy.Late > 0:
		asked = fmt.Sprintf("late %.4g%%", policy.Late*100)
	default:
		return ""
	}
	text := fmt.Sprintf("%s is not calibrated, because Forewarm does not know what one replica sustains: let a "+
		"HorizontalPodAutoscaler or a ScaledObject refer to this Forecast, or set spec.scaling.target; until then, "+
		"Forewarm serves the %v quantile of the window peak", asked, policy.Level())
	return strings.Join(append([]string{text}, doubts...), "; ")
}

// ownScaling reads spec.scaling; stated is false if it is absent.
func (r *reader) ownScaling(path *field.Path, s *v1alpha1.Scaling) (scaling decide.Autoscaler, stated bool) {
	if s == nil || s.Target.IsZero() && s.Before != nil {
		return decide.Autoscaler{}, false
	}
	spec := r.recommended(path, v1alpha1.VariantScaling{
		Target: s.Target, MinReplicas: s.MinReplicas, MaxReplicas: s.MaxReplicas,
	})
	return decide.Autoscaler{Name: decide.SpecScaling, HPA: spec}, spec.Metrics[0].Target > 0
}

// recommended returns the autoscaler that docs/hpa.md recommends for a scaling. It has no scale-down stabilization, because the value
// already looks ahead. Otherwise it has the defaults of the API server and the controller-manager.
func (r *reader) recommended(path *field.Path, s v1alpha1.VariantScaling) hpa.Spec {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	spec := hpa.Spec{
		Min: 1, Max: MaxReplicas,
		Metrics: []hpa.Metric{{
			Name: "demand", Source: hpa.External, Type: hpa.AverageValue,
			Target: r.replicaTarget(path.Child("target"), s.Target),
		}},
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		Cluster:  hpa.DefaultCluster(),
	}
	if s.MinReplicas != nil {
		spec.Min = *s.MinReplicas
	}
	if s.MaxReplicas != nil {
		spec.Max = *s.MaxReplicas
	}
	if spec.Min < 0 || spec.Min > MaxReplicas {
		r.Invalid(path.Child("minReplicas"), spec.Min, "write 0 to %d", MaxReplicas)
	}
	if least := max(spec.Min, 1); spec.Max < least || spec.Max > MaxReplicas {
		r.Invalid(path.Child("maxReplicas"), spec.Max,
			"write a number from %d (at least minReplicas, and at least 1) to %d",
			least, MaxReplicas)
	}
	// A workload that may scale to zero has at least one replica here, see package autoscaler.
	spec.Min = max(spec.Min, 1)
	return spec
}

// before reads how the workload was scaled before.
func (r *reader) before(path *field.Path, s *v1alpha1.Scaling) decide.Baseline {
	if s == nil || s.Before == nil {
		return decide.Baseline{}
	}
	least := s.Before.MinReplicas
	if least < 0 || least > MaxReplicas {
		r.Invalid(path.Child("minReplicas"), least, "write 1 to %d", MaxReplicas)
	}
	return decide.Baseline{Target: float64(r.replicaTarget(path.Child("target"), s.Before.Target)) / 1000, Min: least}
}

// replicaTarget reads the demand for each replica, in thousandths; 0 if the target is invalid.
func (r *reader) replicaTarget(path *field.Path, quantity resource.Quantity) int64 {
	target := quantity.AsApproximateFloat64()
	switch {
	case !(target > 0):
		r.Invalid(path, quantity.String(),
			"write the demand that one replica sustains, a quantity above 0, for example \"4000\"")
	case target < 0.001 || target >= hpa.MaxValue:
		r.Invalid(path, quantity.String(), "an HPA accepts only targets from 0.001 to %.3g: use another unit for the "+
			"demand",
			float64(hpa.MaxValue))
	default:
		return quantity.MilliValue()
	}
	return 0
}

// CheckQuantities rejects an object whose quantities must not be parsed (see parse.Bounded). Call it
// before the object is decoded.
func CheckQuantities(object map[string]any) error {
	for _, path := range [][]string{{"spec", "scaling", "target"}, {"spec", "scaling", "before", "target"}} {
		if err := checkQuantity(object, path...); err != nil {
			return err
		}
	}
	variants, _, err := unstructured.NestedSlice(object, "spec", "variants")
	if err != nil {
		return nil //nolint:nilerr // Another kind is the decoder's to refuse.
	}
	for _, v := range variants {
		if one, ok := v.(map[string]any); ok {
			if err := checkQuantity(one, "scaling", "target"); err != nil {
				return fmt.Errorf("spec.variants: %w", err)
			}
		}
	}
	return nil
}

func checkQuantity(object map[string]any, path ...string) error {
	text, found, err := unstructured.NestedString(object, path...)
	// The decoder rejects a target of another kind.
	if err == nil && found && !parse.Bounded(text) {
		return fmt.Errorf("%s: %.64q is not a quantity, write for example 64, 0.5 or 4k", strings.Join(path, "."), text)
	}
	return nil
}
