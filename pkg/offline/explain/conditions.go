package explain

import (
	"strings"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// conditions adds what to check for each condition of the HPA that is false.
func (t *explainer) conditions() {
	for _, kind := range []string{"AbleToScale", "ScalingActive"} {
		c, there := t.s.Live.condition(kind)
		if !there || c.True {
			continue
		}
		t.warn(c.Reason, conditionAdvice(&c), "the HPA reports %s=False: %s", c.Type, c.Message)
	}
}

// conditionAdvice is what to check for a condition that is false.
func conditionAdvice(c *Condition) string {
	const (
		external = "external.metrics.k8s.io"
		custom   = "custom.metrics.k8s.io"
	)
	switch c.Reason {
	case "FailedGetExternalMetric":
		return metricAdvice(c.Message, external)
	case "FailedGetPodsMetric":
		if strings.Contains(c.Message, "could not find the metric") {
			return "kubectl get apiservices | grep " + custom + ": Forewarm has no Pods metrics; if it holds the group, see " +
				"docs/hpa.md#with-prometheus-adapter-or-another-metrics-adapter"
		}
		return metricAdvice(c.Message, custom)
	case "FailedGetObjectMetric":
		return metricAdvice(c.Message, custom)
	case "FailedGetResourceMetric", "FailedGetContainerResourceMetric":
		return "check that metrics-server runs (kubectl top pods), and that the containers state requests"
	case string(hpa.ScalingDisabled):
		return "the target is at 0 replicas: scale it to 1, or let KEDA activate it"
	case "FailedGetScale":
		return "check spec.scaleTargetRef: its apiVersion, kind and name, and that the kind has a scale sub-resource"
	case "FailedUpdateScale":
		return "the target refuses another number of replicas: check its events, and admission policies"
	case "InvalidSelector", "AmbiguousSelector":
		return "give the pods of the target labels that no other HPA's target selects"
	}
	return "see its events: kubectl describe hpa"
}

// metricAdvice depends on the error message of the metrics API.
func metricAdvice(message, group string) string {
	switch {
	case strings.Contains(message, "scaledObject name is not specified"):
		return "KEDA owns " + group + " and knows only its own metrics: use KEDA's external trigger, or an Object metric"
	case strings.Contains(message, "could not find the requested resource"),
		strings.Contains(message, "no matches for kind"), strings.Contains(message, "no known available metric versions"):
		return group + " is not served: kubectl get apiservices | grep metrics"
	case strings.Contains(message, "unable to handle the request"), strings.Contains(message, "Unavailable"):
		return "the server of " + group + " does not answer: kubectl get apiservices | grep metrics"
	case strings.Contains(message, "forbidden"):
		return "the HPA controller may not read " + group + ": its cluster role is missing"
	case strings.Contains(message, "not found"), strings.Contains(message, "NotFound"):
		return "check the metric's name and namespace: kubectl get forecasts, or what your adapter serves"
	}
	return "read the metric yourself: kubectl get --raw /apis/" + group
}
