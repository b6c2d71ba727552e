package autoscaler

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// objectMetric is the name of a Forecast's metric for Object metrics.
const objectMetric = "demand"

// FromHPA returns the metrics of a HorizontalPodAutoscaler that name a Forecast: an External metric by its name and by an alias,
// an Object metric by its object. (An External metric may be another adapter's; then no Forecast has that name or alias.) The
// defaults are those of the API server, so that an object from a file is read like one from a cluster.
func FromHPA(h *autoscalingv2.HorizontalPodAutoscaler) []manifest.Reference {
	if OwningScaledObject(h) != "" {
		return nil
	}
	var out []manifest.Reference
	for i := range h.Spec.Metrics {
		read, found := forecastMetric(&h.Spec.Metrics[i])
		if !found {
			continue
		}
		ref := manifest.Reference{
			Forecast:   snapshot.Key{Namespace: h.Namespace, Name: read.forecast},
			Autoscaler: "HorizontalPodAutoscaler/" + h.Name,
			Workload:   workloadOf(h),
		}
		if alias, view := aliasOf(&read); alias != nil {
			if len(alias.Labels) > 0 {
				labelled := ref
				resolve(&labelled, &h.Spec, &read, view)
				ref.Labelled = &labelled
			}
			ref.Alias = alias.Key(h.Namespace)
		}
		resolveHPA(&ref, &h.Spec, &read)
		out = append(out, ref)
	}
	return out
}

// workloadOf is what a HorizontalPodAutoscaler scales.
func workloadOf(h *autoscalingv2.HorizontalPodAutoscaler) leadtime.Workload {
	ref := h.Spec.ScaleTargetRef
	return leadtime.Workload{Namespace: h.Namespace, APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
}

// OwningScaledObject returns the name of the ScaledObject for which KEDA created an HPA; empty where there is none.
func OwningScaledObject(h *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, o := range h.OwnerReferences {
		if o.Kind == KindScaledObject && strings.HasPrefix(o.APIVersion, "keda.sh/") {
			return o.Name
		}
	}
	return ""
}

// hpaMetric is a metric that names a Forecast.
type hpaMetric struct {
	forecast string
	source   hpa.MetricType
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
func resolveHPA(r *manifest.Reference, s *autoscalingv2.HorizontalPodAutoscalerSpec, m *hpaMetric) {
	if m.source == hpa.Object && m.id.Name != objectMetric {
		r.Refused = fmt.Sprintf("a Forecast has no metric %.64q: write name: %s", m.id.Name, objectMetric)
		return
	}
	selected, err := parse.Selector(m.id.Selector)
	if err != nil {
		r.Refused = "its selector is invalid: " + err.Error()
		return
	}
	resolve(r, s, m, selected)
}

// resolve sets how an autoscaler scales on one of its metrics under what it selects, or why it is refused.
func resolve(
	r *manifest.Reference, s *autoscalingv2.HorizontalPodAutoscalerSpec, m *hpaMetric, selected map[string]string,
) {
	setSelection(r, selected)
	if r.Refused == "" {
		r.Spec, r.Refused = hpaSpec(s, m.forecast, m.source, m.target)
		r.Sleeps = r.Spec.Min == 0
	}
}

// aliasOf returns the alias that a metric asks for, and the view of its Forecast; nil where it asks for none.
func aliasOf(m *hpaMetric) (alias *snapshot.Alias, view map[string]string) {
	selected, err := parse.Selector(m.id.Selector)
	if m.source != hpa.External || err != nil {
		return nil, nil
	}
	return snapshot.AliasOf(m.id.Name, selected)
}

// hpaSpec returns how an autoscaler scales on a metric with an AverageValue target, or why it is refused.
func hpaSpec(s *autoscalingv2.HorizontalPodAutoscalerSpec, name string, source hpa.MetricType,
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
