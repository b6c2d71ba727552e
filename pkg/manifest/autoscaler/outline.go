package autoscaler

import (
	"encoding/json"
	"errors"
	"regexp"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// Outline is what an autoscaler scales and on which metrics, whether they name a Forecast or not.
type Outline struct {
	// Ref is "HorizontalPodAutoscaler/llama" or "ScaledObject/llama", Owner the ScaledObject that KEDA created an HPA for.
	Ref, Owner string
	Workload   leadtime.Workload
	// Min and Max are its replicas, with the defaults of the API server and of KEDA.
	Min, Max int32
	Metrics  []OutlineMetric
}

// OutlineMetric is one metric of an Outline. Its Spec is on the total demand, also where the metric is a mean over the pods: the
// averageValue of both is the demand for each replica.
type OutlineMetric struct {
	Metric

	// Query is the PromQL of KEDA's prometheus trigger, otherwise the name of the metric.
	Query string
}

// unbounded matches quantities that must not be parsed, see v1alpha1.BoundedQuantity.
var unbounded = regexp.MustCompile(`"[-+.0-9]+[eE][-+]?\d{3,}"`)

// OutlineOf reads an autoscaler as a cluster or a file has it.
func OutlineOf(object *unstructured.Unstructured) (o Outline, err error) {
	o.Ref = object.GetKind() + "/" + object.GetName()
	if object.GetKind() == "ScaledObject" {
		read, ok := decodeSpec(object)
		if !ok {
			return o, errors.New("its spec is not that of a ScaledObject")
		}
		o.fromKEDA(&read, object.GetNamespace())
		return o, nil
	}
	h, err := ReadHPA(object)
	if err == nil {
		o.fromHPA(h)
	}
	return o, err
}

// ReadHPA reads an HPA as a cluster or a file has it.
func ReadHPA(object *unstructured.Unstructured) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	text, err := json.Marshal(object.Object)
	if err != nil || object.GetAPIVersion() != "autoscaling/v2" || unbounded.Match(text) {
		return nil, errors.New("it is not of autoscaling/v2, or one of its values is not a quantity")
	}
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	return h, utiljson.UnmarshalCaseSensitivePreserveInts(text, h)
}

func (o *Outline) fromHPA(h *autoscalingv2.HorizontalPodAutoscaler) {
	o.Workload, o.Owner = workloadOf(h), OwningScaledObject(h)
	o.Min, o.Max = 1, h.Spec.MaxReplicas
	if h.Spec.MinReplicas != nil {
		o.Min = *h.Spec.MinReplicas
	}
	for i := range h.Spec.Metrics {
		m := hpaMetricOf(&h.Spec, &h.Spec.Metrics[i])
		if pods := h.Spec.Metrics[i].Pods; pods != nil {
			m.Spec, m.Refused = hpaSpec(&h.Spec, m.Name, hpa.External, &pods.Target)
			m = m.checked()
		}
		o.Metrics = append(o.Metrics, OutlineMetric{m, m.Name})
	}
	if len(o.Metrics) == 0 { // The API server's default.
		o.Metrics = []OutlineMetric{{Metric: Metric{Name: "cpu", Type: "Resource metric"}}}
	}
}

func (o *Outline) fromKEDA(s *scaledObject, namespace string) {
	o.Workload, o.Max = s.workload(namespace), kedaDefaultMax
	if s.MinReplicaCount != nil {
		o.Min = *s.MinReplicaCount
	}
	if s.MaxReplicaCount != nil {
		o.Max = *s.MaxReplicaCount
	}
	for i := range s.Triggers {
		m := OutlineMetric{Metric: s.metricOf(i), Query: s.Triggers[i].Name}
		if s.Triggers[i].Type == "prometheus" {
			m.Query = s.Triggers[i].Metadata["query"]
		}
		o.Metrics = append(o.Metrics, m)
	}
}
