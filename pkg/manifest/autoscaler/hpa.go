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

// objectMetric is the name of the metric that describes a Forecast object.
const objectMetric = "demand"

// FromHPA are the metrics of a HorizontalPodAutoscaler that name a Forecast: an External metric by its name, an Object
// metric by its object. (An External metric may be somebody else's; then there is no Forecast of that name.) The defaults
// are those that the API server fills in, so that an object from a file reads as one from a cluster.
func FromHPA(h *autoscalingv2.HorizontalPodAutoscaler) []Reference {
	if Owner(h) != "" {
		return nil
	}
	var out []Reference
	for i := range h.Spec.Metrics {
		read, found := readMetric(&h.Spec.Metrics[i])
		if !found {
			continue
		}
		ref := Reference{
			Forecast: snapshot.Key{Namespace: h.Namespace, Name: read.forecast},
			By:       "HorizontalPodAutoscaler/" + h.Name,
			Scales: leadtime.Workload{
				Namespace:  h.Namespace,
				APIVersion: h.Spec.ScaleTargetRef.APIVersion,
				Kind:       h.Spec.ScaleTargetRef.Kind,
				Name:       h.Spec.ScaleTargetRef.Name,
			},
		}
		ref.scale(&h.Spec, &read)
		out = append(out, ref)
	}
	return out
}

// Owner is the ScaledObject that KEDA made a HorizontalPodAutoscaler of, by name: that counts. It is empty where it is
// nobody's.
func Owner(h *autoscalingv2.HorizontalPodAutoscaler) string {
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

func readMetric(m *autoscalingv2.MetricSpec) (read hpaMetric, found bool) {
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

// scale says how an autoscaler scales on one of its metrics, or why that cannot count.
func (r *Reference) scale(s *autoscalingv2.HorizontalPodAutoscalerSpec, m *hpaMetric) {
	if m.source == hpa.Object && m.id.Name != objectMetric {
		r.Refused = fmt.Sprintf("a Forecast has no metric %.64q: write name: %s", m.id.Name, objectMetric)
		return
	}
	if r.Candidate, r.Refused = judgeSelector(m.id.Selector); r.Refused == "" {
		r.Spec, r.Refused = averageOf(s, m.forecast, m.source, m.target)
	}
}

// averageOf is how an autoscaler scales on a metric of an AverageValue target, or why that cannot count.
func averageOf(s *autoscalingv2.HorizontalPodAutoscalerSpec, name string, source hpa.Source,
	of *autoscalingv2.MetricTarget,
) (spec hpa.Spec, refused string) {
	if of.Type != autoscalingv2.AverageValueMetricType {
		return hpa.Spec{}, wrongType(of.Type)
	}
	target, refused := thousandths(of.AverageValue)
	if refused != "" {
		return hpa.Spec{}, refused
	}
	if spec, refused = total(name, source, target, s.Behavior); refused != "" {
		return spec, refused
	}
	spec.Max = s.MaxReplicas
	if s.MinReplicas != nil {
		spec.Min = *s.MinReplicas
	}
	// The API server lets no 0 pass where the controller cannot scale to zero.
	spec.Cluster.ScaleToZero = spec.Min == 0
	return spec, ""
}

// wrongType says what a target of another type than AverageValue does with a total.
func wrongType(given autoscalingv2.MetricTargetType) string {
	if given == autoscalingv2.ValueMetricType {
		return "its target of type Value multiplies the total demand by the ready pods: write type: AverageValue"
	}
	return fmt.Sprintf("its target is of type %.64q: write type: AverageValue", given)
}

// judgeSelector judges what a metric's selector asks for. Only what picks one value is meaningful: matchLabels, and In
// with one value.
func judgeSelector(selector *metav1.LabelSelector) (candidate, refused string) {
	if selector == nil {
		return "", ""
	}
	asked := make(map[string]string, len(selector.MatchLabels)+len(selector.MatchExpressions))
	maps.Copy(asked, selector.MatchLabels)
	for i := range selector.MatchExpressions {
		e := &selector.MatchExpressions[i]
		if e.Operator != metav1.LabelSelectorOpIn || len(e.Values) != 1 {
			return "", fmt.Sprintf("what it asks for is refused: %.64q picks no single value, write matchLabels", e.Key)
		}
		if value, twice := asked[e.Key]; twice && value != e.Values[0] {
			return "", fmt.Sprintf("what it asks for is refused: %.64q is asked for twice", e.Key)
		}
		asked[e.Key] = e.Values[0]
	}
	return judge(asked)
}
