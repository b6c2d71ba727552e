package autoscaler

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// FromHPA reads a HorizontalPodAutoscaler. The defaults are those of the API server, so that an object from a file is read like one
// from a cluster.
func FromHPA(h *autoscalingv2.HorizontalPodAutoscaler) *hpa.Autoscaler {
	ref := h.Spec.ScaleTargetRef
	out := &hpa.Autoscaler{
		Kind: hpa.KindHPA, Namespace: h.Namespace, Name: h.Name, Owner: owningScaledObject(h),
		Workload: leadtime.Workload{Namespace: h.Namespace, APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name},
		Min:      1, Max: h.Spec.MaxReplicas, Status: statusOf(h),
	}
	if h.Spec.MinReplicas != nil {
		out.Min = *h.Spec.MinReplicas
	}
	setBehavior(out, h.Spec.Behavior)
	for i := range h.Spec.Metrics {
		m := metricOf(&h.Spec.Metrics[i], currentValue(h, i))
		m.Refused = refusal(out, m.Refused)
		out.Metrics = append(out.Metrics, m)
	}
	return out
}

// owningScaledObject returns the name of the ScaledObject for which KEDA created an HPA; empty if there is none.
func owningScaledObject(h *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, o := range h.OwnerReferences {
		if o.Kind == hpa.KindScaledObject && strings.HasPrefix(o.APIVersion, "keda.sh/") {
			return o.Name
		}
	}
	return ""
}

// metricOf reads a metric, with its value in the status.
func metricOf(m *autoscalingv2.MetricSpec, current *autoscalingv2.MetricValueStatus) hpa.AutoscalerMetric {
	out := hpa.AutoscalerMetric{Kind: string(m.Type) + " metric"}
	const instead = "write an External metric of the total demand, type AverageValue"
	switch {
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		out.Source, out.Forecast = hpa.External, m.External.Metric.Name
		readServed(&out, &m.External.Metric, &m.External.Target, current)
		if name, ok := strings.CutSuffix(out.Name, fleet.MetricSuffix); ok && out.Labels["batch"] != "" {
			out.Fleet, out.Batch = name, out.Labels["batch"]
		}
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		of := m.Object.DescribedObject
		out.Source, out.Described = hpa.Object, leadtime.Workload{
			APIVersion: of.APIVersion,
			Kind:       of.Kind,
			Name:       of.Name,
		}
		if group, _, _ := strings.Cut(of.APIVersion, "/"); of.Kind == v1alpha1.ForecastKind &&
			group == v1alpha1.GroupVersion().Group {
			out.Forecast, out.Certain = of.Name, true
		}
		readServed(&out, &m.Object.Metric, &m.Object.Target, current)
		if gv := v1alpha1.GroupVersion(); of.Kind == "GPUFleet" && strings.HasPrefix(of.APIVersion, gv.Group+"/") {
			out.Fleet, out.Batch = of.Name, out.Labels["batch"]
		}
	case m.Pods != nil:
		readServed(&out, &m.Pods.Metric, &m.Pods.Target, nil)
		out.PerPod, out.Invalid = true, ""
		out.TargetText, out.CurrentText = formatTarget(&m.Pods.Target), formatValue(current)
	case m.Resource != nil:
		out.Name = string(m.Resource.Name)
		out.Refused = "the usage of the pods does not show the demand, because it stops growing when the pods are " +
			"busy: " + instead
		if of := m.Resource.Target.AverageUtilization; of != nil {
			out.Utilization = *of
		}
		out.TargetText, out.CurrentText = formatTarget(&m.Resource.Target), formatValue(current)
	case m.ContainerResource != nil:
		out.Name, out.Container = string(m.ContainerResource.Name), m.ContainerResource.Container
		out.Refused = "the usage of the containers does not show the demand, because it stops growing when they are " +
			"busy: " + instead
		out.TargetText, out.CurrentText = formatTarget(&m.ContainerResource.Target), formatValue(current)
	default:
		out.Refused = fmt.Sprintf("it has no field for its type %.64q: %s", m.Type, instead)
		out.Invalid = fmt.Sprintf("it has no field for its type %.64q", m.Type)
	}
	return out
}

// readServed reads a metric that an adapter serves.
func readServed(out *hpa.AutoscalerMetric, id *autoscalingv2.MetricIdentifier, of *autoscalingv2.MetricTarget,
	current *autoscalingv2.MetricValueStatus,
) {
	out.Name, out.Type = id.Name, hpa.TargetType(of.Type)
	readSelector(out, id.Selector)
	if current == nil {
		current = &autoscalingv2.MetricValueStatus{}
	}
	field, target, value := "averageValue", of.AverageValue, current.AverageValue
	switch out.Type {
	case hpa.AverageValue:
	case hpa.Value:
		field, target, value = "value", of.Value, current.Value
		out.Refused = unsupportedTargetType(of.Type)
	default:
		out.Refused = unsupportedTargetType(of.Type)
		out.Invalid = fmt.Sprintf("a target of type %.64q: write type: AverageValue", of.Type)
		return
	}
	milli, problem := parseTarget(field, target)
	if problem != "" {
		out.Invalid = id.Name + ": " + problem
	}
	out.Target, out.Reading, out.Refused = milli, statusValue(value), cmp.Or(out.Refused, problem)
}

// readSelector reads the selector of a metric's series.
func readSelector(out *hpa.AutoscalerMetric, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	if parsed, err := metav1.LabelSelectorAsSelector(s); err == nil {
		out.Selector = parsed.String()
	}
	var err error
	if out.Labels, err = parse.Selector(s); err != nil {
		out.InvalidSelector = err.Error()
	}
}

// refusal says why a metric is rejected: for its own reason or, if it has none, because its autoscaler's behavior is invalid.
func refusal(a *hpa.Autoscaler, own string) string {
	if own == "" && a.InvalidBehavior != "" {
		return "its behavior is invalid: " + a.InvalidBehavior
	}
	return own
}

// unsupportedTargetType says why a target with a type other than AverageValue is rejected.
func unsupportedTargetType(given autoscalingv2.MetricTargetType) string {
	if given == autoscalingv2.ValueMetricType {
		return "its target of type Value multiplies the total demand by the ready pods: write type: AverageValue"
	}
	return fmt.Sprintf("its target is of type %.64q: write type: AverageValue", given)
}

// parseTarget returns a target in thousandths, rounded up like in the HPA's controller, or says why it is invalid.
func parseTarget(field string, target *resource.Quantity) (milli int64, problem string) {
	switch {
	case target == nil || target.Sign() <= 0:
		return 0, "its " + field + " is not above 0: write what one replica sustains"
	case target.AsApproximateFloat64() >= hpa.MaxValue:
		return 0, fmt.Sprintf(
			"its %s is not below %.3g: state the demand in a larger unit",
			field,
			float64(hpa.MaxValue),
		)
	}
	return target.MilliValue(), ""
}

// setBehavior sets a behavior with the API server's defaults. Without a behavior the controller uses another algorithm (see hpa.Spec).
func setBehavior(a *hpa.Autoscaler, b *autoscalingv2.HorizontalPodAutoscalerBehavior) {
	if b == nil {
		return
	}
	up, errUp := readRules("scaleUp", b.ScaleUp, hpa.DefaultScaleUp())
	down, errDown := readRules("scaleDown", b.ScaleDown, hpa.DefaultScaleDown())
	if err := errors.Join(errUp, errDown); err != nil {
		a.InvalidBehavior = err.Error()
		return
	}
	a.Behavior = &hpa.Behavior{Up: up, Down: down}
}

// readRules returns the rules of one direction, with its defaults.
func readRules(direction string, from *autoscalingv2.HPAScalingRules, rules hpa.Rules) (hpa.Rules, error) {
	if from == nil {
		return rules, nil
	}
	if seconds := from.StabilizationWindowSeconds; seconds != nil {
		if *seconds < 0 {
			// In hpa.Rules a negative window means the cluster's default.
			return hpa.Rules{}, fmt.Errorf("%s: stabilizationWindowSeconds %d: expected 0 or more", direction, *seconds)
		}
		rules.Stabilization = inSeconds(*seconds)
	}
	if from.SelectPolicy != nil {
		rules.Select = hpa.Select(*from.SelectPolicy)
	}
	if from.Policies != nil {
		rules.Policies = make([]hpa.ScalingPolicy, len(from.Policies))
		for i, p := range from.Policies {
			rules.Policies[i] = hpa.ScalingPolicy{
				Type: hpa.PolicyType(p.Type), Value: p.Value, Period: inSeconds(p.PeriodSeconds),
			}
		}
	}
	if from.Tolerance != nil {
		tolerance := from.Tolerance.AsApproximateFloat64()
		rules.Tolerance = &tolerance
	}
	return rules, nil
}

func inSeconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// statusOf reads the status without the values of the metrics; nil for an HPA that no controller has processed yet.
func statusOf(h *autoscalingv2.HorizontalPodAutoscaler) *hpa.Status {
	if len(h.Status.Conditions) == 0 && h.Status.ObservedGeneration == nil {
		return nil
	}
	out := &hpa.Status{
		Desired: h.Status.DesiredReplicas, Current: h.Status.CurrentReplicas,
		Outdated: h.Status.ObservedGeneration != nil && *h.Status.ObservedGeneration < h.Generation,
	}
	if h.Status.LastScaleTime != nil {
		out.LastScale = h.Status.LastScaleTime.Time
	}
	for _, c := range h.Status.Conditions {
		out.Conditions = append(out.Conditions, hpa.Condition{
			Type: string(c.Type), True: c.Status == "True", Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// currentValue returns the value of a metric in the status; nil if there is none. The controller keeps the order of the spec.
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

// statusValue returns a value of the status in thousandths; nil if there is none.
func statusValue(q *resource.Quantity) *int64 {
	if q == nil || q.AsApproximateFloat64() >= hpa.MaxValue || q.AsApproximateFloat64() <= -hpa.MaxValue {
		return nil
	}
	milli := q.MilliValue()
	return &milli
}

func formatTarget(of *autoscalingv2.MetricTarget) string {
	return formatValue(&autoscalingv2.MetricValueStatus{
		Value: of.Value, AverageValue: of.AverageValue, AverageUtilization: of.AverageUtilization,
	})
}

// formatValue formats a value in the form in which it is given; empty if there is none.
func formatValue(v *autoscalingv2.MetricValueStatus) string {
	switch {
	case v == nil:
	case v.AverageUtilization != nil:
		return fmt.Sprintf("%d%% of the request", *v.AverageUtilization)
	case v.AverageValue != nil:
		return v.AverageValue.String() + " a pod"
	case v.Value != nil:
		return v.Value.String()
	}
	return ""
}
