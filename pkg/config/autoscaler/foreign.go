package autoscaler

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/forewarm/forewarm/pkg/explain"
)

// foreign is a metric that reads single pods: its words are the target and the status.
func foreign(m *autoscalingv2.MetricSpec, status *autoscalingv2.MetricStatus) (explain.Foreign, error) {
	f := explain.Foreign{Type: string(m.Type)}
	var of *autoscalingv2.MetricTarget
	var current *autoscalingv2.MetricValueStatus
	switch {
	case m.Resource != nil:
		f.Name, of = string(m.Resource.Name), &m.Resource.Target
		if status.Resource != nil {
			current = &status.Resource.Current
		}
	case m.ContainerResource != nil:
		f.Name, of = string(m.ContainerResource.Name)+" of "+m.ContainerResource.Container, &m.ContainerResource.Target
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
	case m.Pods != nil:
		f.Name, of = m.Pods.Metric.Name, &m.Pods.Target
		if status.Pods != nil {
			current = &status.Pods.Current
		}
	default:
		return f, fmt.Errorf("nothing is said under its type %.64q", m.Type)
	}
	f.Target = words(&autoscalingv2.MetricValueStatus{
		Value: of.Value, AverageValue: of.AverageValue, AverageUtilization: of.AverageUtilization,
	})
	if current != nil {
		f.Current = words(current)
	}
	return f, nil
}

// words is a value in whichever form it is given.
func words(v *autoscalingv2.MetricValueStatus) string {
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
