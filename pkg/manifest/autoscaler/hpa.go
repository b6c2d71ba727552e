package autoscaler

import (
	"fmt"
	"maps"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// objectMetric is the name of a Forecast's metric for Object metrics.
const objectMetric = "demand"

// FromHPA returns the metrics of a HorizontalPodAutoscaler that name a Forecast: an External metric by its name, an
// Object metric by its object. (An External metric may be another adapter's; then no Forecast has that name.) The
// defaults are those of the API server, so that an object from a file is read like one from a cluster.
func FromHPA(h *autoscalingv2.HorizontalPodAutoscaler) []Reference {
	if OwningScaledObject(h) != "" {
		return nil
	}
	var out []Reference
	for i := range h.Spec.Metrics {
		read, found := forecastMetric(&h.Spec.Metrics[i])
		if !found {
			continue
		}
		ref := Reference{
			Forecast:   snapshot.Key{Namespace: h.Namespace, Name: read.forecast},
			Autoscaler: "HorizontalPodAutoscaler/" + h.Name,
			Workload: leadtime.Workload{
				Namespace:  h.Namespace,
				APIVersion: h.Spec.ScaleTargetRef.APIVersion,
				Kind:       h.Spec.ScaleTargetRef.Kind,
				Name:       h.Spec.ScaleTargetRef.Name,
			},
		}
		ref.resolveHPA(&h.Spec, &read)
		out = append(out, ref)
	}
	return out
}

// OwningScaledObject returns the name of the ScaledObject for which KEDA created a HorizontalPodAutoscaler; empty
// where there is none.
func OwningScaledObject(h *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, o := range h.OwnerReferences {
		if o.Kind == "ScaledObject" && strings.HasPrefix(o.APIVersion, "keda.sh/") {
			return o.Name
		}
	}
	return ""
}

// hpaMetric is a metric that names a Forecast.
type hpaMetric struct {
	forecast string
	source   hpa.Source
	id       *autoscalingv2.MetricIdentifier
	target   *autoscalingv2.MetricTarget
}

func forecastMetric(m *autoscalingv2.MetricSpec) (read hpaMetric, found bool) {
	switch {
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		return hpaMetric{m.External.Metric.Name, hpa.External, &m.External.Metric, &m.External.Target}, true
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil && isForecast(&m.Object.DescribedObject):
		return hpaMetric{m.Object.DescribedObject.Name, hpa.Object, &m.Object.Metric, &m.Object.Target}, true
	}
	return hpaMetric{}, false
}

func isForecast(ref *autoscalingv2.CrossVersionObjectReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return ref.Kind == v1alpha1.ForecastKind && group == v1alpha1.GroupVersion().Group
}

// resolveHPA sets how an autoscaler scales on one of its metrics, or why it is refused.
func (r *Reference) resolveHPA(s *autoscalingv2.HorizontalPodAutoscalerSpec, m *hpaMetric) {
	if m.source == hpa.Object && m.id.Name != objectMetric {
		r.Refused = fmt.Sprintf("a Forecast has no metric %.64q: write name: %s", m.id.Name, objectMetric)
		return
	}
	if r.Candidate, r.Refused = parseSelector(m.id.Selector); r.Refused == "" {
		r.Spec, r.Refused = hpaSpec(s, m.forecast, m.source, m.target)
	}
}

// hpaSpec returns how an autoscaler scales on a metric with an AverageValue target, or why it is refused.
func hpaSpec(s *autoscalingv2.HorizontalPodAutoscalerSpec, name string, source hpa.Source,
	of *autoscalingv2.MetricTarget,
) (spec hpa.Spec, refused string) {
	if of.Type != autoscalingv2.AverageValueMetricType {
		return hpa.Spec{}, unsupportedTargetType(of.Type)
	}
	target, refused := parseAverageValue(of.AverageValue)
	if refused != "" {
		return hpa.Spec{}, refused
	}
	if spec, refused = averageValueSpec(name, source, target, s.Behavior); refused != "" {
		return spec, refused
	}
	spec.Max = s.MaxReplicas
	if s.MinReplicas != nil {
		spec.Min = *s.MinReplicas
	}
	// The API server rejects 0 where the controller cannot scale to zero.
	spec.Cluster.ScaleToZero = spec.Min == 0
	return spec, ""
}

// unsupportedTargetType returns why a target of another type than AverageValue is refused.
func unsupportedTargetType(given autoscalingv2.MetricTargetType) string {
	if given == autoscalingv2.ValueMetricType {
		return "its target of type Value multiplies the total demand by the ready pods: write type: AverageValue"
	}
	return fmt.Sprintf("its target is of type %.64q: write type: AverageValue", given)
}

// parseSelector parses a metric's selector. It must select one value for each key: matchLabels, or In with one value.
func parseSelector(selector *metav1.LabelSelector) (candidate, refused string) {
	if selector == nil {
		return "", ""
	}
	asked := make(map[string]string, len(selector.MatchLabels)+len(selector.MatchExpressions))
	maps.Copy(asked, selector.MatchLabels)
	for i := range selector.MatchExpressions {
		e := &selector.MatchExpressions[i]
		if e.Operator != metav1.LabelSelectorOpIn || len(e.Values) != 1 {
			return "", fmt.Sprintf(
				"its selector is invalid: %.64q does not select a single value, write matchLabels",
				e.Key,
			)
		}
		if value, twice := asked[e.Key]; twice && value != e.Values[0] {
			return "", fmt.Sprintf("its selector is invalid: %.64q has two values, keep one", e.Key)
		}
		asked[e.Key] = e.Values[0]
	}
	return parseSelection(asked)
}
