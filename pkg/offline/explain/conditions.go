package explain

import (
	"strings"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// conditions are what the HPA itself says is wrong: it names the reason, here is what to check.
func (t *telling) conditions() {
	for _, kind := range []string{"AbleToScale", "ScalingActive"} {
		c, there := t.s.Live.condition(kind)
		if !there || c.True {
			continue
		}
		t.warn(c.Reason, advice(&c), "the HPA says %s=False: %s", c.Type, c.Message)
	}
}

// advice is what to check for a condition that is false.
func advice(c *Condition) string {
	const (
		external = "external.metrics.k8s.io"
		custom   = "custom.metrics.k8s.io"
	)
	switch c.Reason {
	case "FailedGetExternalMetric":
		return metricAdvice(c.Message, external)
	case "FailedGetObjectMetric", "FailedGetPodsMetric":
		return metricAdvice(c.Message, custom)
	case "FailedGetResourceMetric", "FailedGetContainerResourceMetric":
		return "check that metrics-server runs (kubectl top pods), and that the containers state requests"
	case string(hpa.ScalingDisabled):
		return "the target is at 0 replicas: scale it to 1, or let KEDA wake it"
	case "FailedGetScale":
		return "check spec.scaleTargetRef: its apiVersion, kind and name, and that the kind has a scale sub-resource"
	case "FailedUpdateScale":
		return "the target refuses another number of replicas: look at its events, and at admission policies"
	case "InvalidSelector", "AmbiguousSelector":
		return "the pods of the target must have labels of their own, that no other HPA's target selects"
	}
	return "kubectl describe hpa has the events"
}

// metricAdvice goes by the words of those who answer for an API of metrics.
func metricAdvice(message, group string) string {
	switch {
	case strings.Contains(message, "scaledObject name is not specified"):
		return "KEDA owns " + group + " and knows only its own metrics: use KEDA's external trigger, or an Object metric"
	case strings.Contains(message, "could not find the requested resource"),
		strings.Contains(message, "no matches for kind"), strings.Contains(message, "no known available metric versions"):
		return "nobody serves " + group + ": kubectl get apiservices | grep metrics"
	case strings.Contains(message, "unable to handle the request"), strings.Contains(message, "Unavailable"):
		return "who serves " + group + " does not answer: kubectl get apiservices | grep metrics"
	case strings.Contains(message, "forbidden"):
		return "the HPA controller may not read " + group + ": its cluster role is missing"
	case strings.Contains(message, "not found"), strings.Contains(message, "NotFound"):
		return "check the metric's name and namespace: kubectl get forecasts, or what your adapter serves"
	}
	return "ask for the metric yourself: kubectl get --raw /apis/" + group
}
