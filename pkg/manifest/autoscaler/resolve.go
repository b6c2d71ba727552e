package autoscaler

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// Resolved is what an autoscaler's object says, for package [explain]. The caller adds readings, scale and Forecasts.
type Resolved struct {
	explain.Input

	// Sources of the metrics, in their order.
	Sources []Source
}

// Source is one metric that an adapter serves.
type Source struct {
	// Metric of the HPA; nil for a trigger of a ScaledObject.
	Metric *autoscalingv2.MetricSpec
	// Forecast that the metric names. If that is not Certain, an External metric of the name may be another adapter's.
	Forecast string
	Certain  bool
}

// ResolveHPA reads a HorizontalPodAutoscaler with all its metrics, and its status if it has one. The error lists
// everything that the API server would reject.
func ResolveHPA(h *autoscalingv2.HorizontalPodAutoscaler) (Resolved, error) {
	s := Resolved{Input: explain.Input{
		HPA:    h.Namespace + "/" + h.Name,
		Target: h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name,
		Spec:   hpa.Spec{Min: 1, Max: h.Spec.MaxReplicas, Cluster: hpa.DefaultCluster()},
	}}
	if h.Spec.MinReplicas != nil {
		s.Spec.Min = *h.Spec.MinReplicas
	}
	s.Spec.Cluster.ScaleToZero = s.Spec.Min == 0
	s.Live = statusOf(h)
	var problems []error
	var err error
	if s.Spec.Behavior, err = readBehavior(h.Spec.Behavior); err != nil {
		problems = append(problems, fmt.Errorf("behavior: %w", err))
	}
	for i := range h.Spec.Metrics {
		if err := s.addMetric(&h.Spec.Metrics[i], currentValue(h, i)); err != nil {
			problems = append(problems, fmt.Errorf("metrics[%d]: %w", i, err))
		}
	}
	if len(h.Spec.Metrics) == 0 {
		// The API server's default.
		s.Uncomputed = []explain.UncomputedMetric{{Type: "Resource", Name: "cpu", Target: "80% of the request"}}
	}
	return s, errors.Join(problems...)
}

// currentValue returns the value of a metric in the status; nil where there is none. The controller keeps the order of the spec.
func currentValue(h *autoscalingv2.HorizontalPodAutoscaler, i int) *autoscalingv2.MetricValueStatus {
	if i >= len(h.Status.CurrentMetrics) || h.Status.CurrentMetrics[i].Type != h.Spec.Metrics[i].Type {
		return nil
	}
	switch m, s := &h.Spec.Metrics[i], &h.Status.CurrentMetrics[i]; {
	case m.External != nil && s.External != nil:
		return &s.External.Current
	case m.Object != nil && s.Object != nil:
		return &s.Object.Current
	case m.Resource != nil && s.Resource != nil:
		return &s.Resource.Current
	case m.ContainerResource != nil && s.ContainerResource != nil:
		return &s.ContainerResource.Current
	case m.Pods != nil && s.Pods != nil:
		return &s.Pods.Current
	}
	return nil
}

// addMetric reads one metric with its value in the status.
func (s *Resolved) addMetric(m *autoscalingv2.MetricSpec, current *autoscalingv2.MetricValueStatus) error {
	switch {
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		return s.addServed(m, hpa.External, &m.External.Metric, &m.External.Target, current)
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		return s.addServed(m, hpa.Object, &m.Object.Metric, &m.Object.Target, current)
	}
	f, err := uncomputedMetric(m, current)
	s.Uncomputed = append(s.Uncomputed, f)
	return err
}

// addServed reads a metric that an adapter serves (External or Object).
func (s *Resolved) addServed(m *autoscalingv2.MetricSpec, source hpa.MetricType, id *autoscalingv2.MetricIdentifier,
	of *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus,
) error {
	read := hpa.Metric{Name: id.Name, Source: source, Type: hpa.TargetType(of.Type)}
	current = cmp.Or(current, &autoscalingv2.MetricValueStatus{})
	value, now := of.AverageValue, current.AverageValue
	switch {
	case read.Type == hpa.Value:
		value, now = of.Value, current.Value
	case read.Type != hpa.AverageValue:
		return fmt.Errorf("a target of type %.64q: write type: AverageValue", of.Type)
	}
	milli, problem := parseAverageValue(value)
	if problem != "" && read.Type == hpa.Value {
		problem = strings.Replace(problem, "averageValue", "value", 1)
	}
	if problem != "" {
		return fmt.Errorf("%s: %s", id.Name, problem)
	}
	read.Target = milli
	from := Source{Metric: m}
	if named, found := forecastMetric(m); found {
		from.Forecast, from.Certain = named.forecast, source == hpa.Object
	}
	s.Spec.Metrics = append(s.Spec.Metrics, read)
	s.Metrics = append(s.Metrics, explain.Metric{})
	s.Sources = append(s.Sources, from)
	if s.Live != nil {
		s.Live.Readings = append(s.Live.Readings, statusValue(now))
	}
	return nil
}

// statusValue returns a value of the status in thousandths; nil where there is none.
func statusValue(q *resource.Quantity) *int64 {
	if q == nil || q.AsApproximateFloat64() >= hpa.MaxValue || q.AsApproximateFloat64() <= -hpa.MaxValue {
		return nil
	}
	milli := q.MilliValue()
	return &milli
}

// statusOf reads the status, without the readings; nil for an HPA that no controller has processed yet.
func statusOf(h *autoscalingv2.HorizontalPodAutoscaler) *explain.Live {
	if len(h.Status.Conditions) == 0 && h.Status.ObservedGeneration == nil {
		return nil
	}
	live := &explain.Live{
		Desired: h.Status.DesiredReplicas, Current: h.Status.CurrentReplicas,
		Outdated: h.Status.ObservedGeneration != nil && *h.Status.ObservedGeneration < h.Generation,
	}
	if h.Status.LastScaleTime != nil {
		live.LastScale = h.Status.LastScaleTime.Time
	}
	for _, c := range h.Status.Conditions {
		live.Conditions = append(live.Conditions, explain.Condition{
			Type: string(c.Type), True: c.Status == "True", Reason: c.Reason, Message: c.Message,
		})
	}
	return live
}

// uncomputedMetric returns a metric that is not served by an adapter: its target and its value in words.
func uncomputedMetric(
	m *autoscalingv2.MetricSpec, current *autoscalingv2.MetricValueStatus,
) (explain.UncomputedMetric, error) {
	f := explain.UncomputedMetric{Type: string(m.Type)}
	var of *autoscalingv2.MetricTarget
	switch {
	case m.Resource != nil:
		f.Name, of = string(m.Resource.Name), &m.Resource.Target
	case m.ContainerResource != nil:
		f.Name, of = string(m.ContainerResource.Name)+" of "+m.ContainerResource.Container, &m.ContainerResource.Target
	case m.Pods != nil:
		f.Name, of = m.Pods.Metric.Name, &m.Pods.Target
	default:
		return f, fmt.Errorf("it has no field for its type %.64q", m.Type)
	}
	f.Target = formatValue(&autoscalingv2.MetricValueStatus{
		Value: of.Value, AverageValue: of.AverageValue, AverageUtilization: of.AverageUtilization,
	})
	if current != nil {
		f.Current = formatValue(current)
	}
	return f, nil
}

// formatValue returns a value in the form that is given.
func formatValue(v *autoscalingv2.MetricValueStatus) string {
	switch {
	case v.AverageUtilization != nil:
		return fmt.Sprintf("%d%% of the request", *v.AverageUtilization)
	case v.AverageValue != nil:
		return v.AverageValue.String() + " a pod"
	case v.Value != nil:
		return v.Value.String()
	}
	return ""
}

// hpaWithStatus is a HorizontalPodAutoscaler as "kubectl get -o yaml" prints it.
type hpaWithStatus struct {
	manifest.Header `json:",inline"`

	Spec   autoscalingv2.HorizontalPodAutoscalerSpec   `json:"spec"`
	Status autoscalingv2.HorizontalPodAutoscalerStatus `json:"status"`
}

// ResolveFile reads an autoscaler of a file, as strictly as Read: the one with a name or, where that is empty, the
// only one. Of a ScaledObject it resolves the HPA that KEDA creates. Unreadable parts of a status count as absent.
func ResolveFile(file string, data []byte, name string) (Resolved, error) {
	all, err := Read(file, data)
	if err != nil {
		return Resolved{}, err
	}
	one, err := FindManifest(all, name)
	if err != nil {
		return Resolved{}, err
	}
	if one.document.Text("kind") == KindScaledObject {
		return resolveScaledObject(one)
	}
	return resolveHPAManifest(one)
}

func resolveHPAManifest(w *Manifest) (Resolved, error) {
	var read hpaWithStatus
	d := w.document
	// The spec was checked already. This removes what does not fit from the status.
	d.Check(reflect.TypeFor[hpaWithStatus]())
	if err := d.Decode(&read); err != nil {
		return Resolved{}, w.errorf("%s", err)
	}
	_, own, _ := strings.Cut(w.Ref, "/")
	s, err := ResolveHPA(&autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(w.Namespace, metav1.NamespaceDefault), Name: own},
		Spec:       read.Spec, Status: read.Status,
	})
	if err != nil {
		return Resolved{}, w.errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return s, nil
}

// resolveScaledObject resolves the HorizontalPodAutoscaler that KEDA creates for a ScaledObject.
func resolveScaledObject(w *Manifest) (Resolved, error) {
	var read scaledObjectManifest
	if err := w.document.Decode(&read); err != nil {
		return Resolved{}, w.errorf("%s", err)
	}
	_, own, _ := strings.Cut(w.Ref, "/")
	namespace := cmp.Or(w.Namespace, metav1.NamespaceDefault)
	scales := read.Spec.workload(namespace)
	s := Resolved{Input: explain.Input{HPA: namespace + "/" + own, Target: scales.Kind + "/" + scales.Name}}
	for i, m := range w.Metrics {
		if m.Refused != "" {
			s.Uncomputed = append(s.Uncomputed, explain.UncomputedMetric{Type: m.Type, Name: m.Name, Why: m.Refused})
			continue
		}
		before := s.Spec.Metrics
		s.Spec = m.Spec
		s.Spec.Metrics = slices.Concat(before, m.Spec.Metrics)
		s.Metrics = append(s.Metrics, explain.Metric{})
		s.Sources = append(s.Sources, Source{Forecast: read.Spec.Triggers[i].Metadata["forecast"], Certain: true})
	}
	return s, nil
}

// TriggerForecasts returns the Forecast that each trigger of a ScaledObject names, empty where it names none.
func TriggerForecasts(object *unstructured.Unstructured) []string {
	read, ok := decodeSpec(object)
	if !ok {
		return nil
	}
	var out []string
	for i := range read.Triggers {
		out = append(out, read.Triggers[i].forecast())
	}
	return out
}
