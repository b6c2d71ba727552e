package hpa

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// The kinds of an Autoscaler.
const (
	KindHPA          = "HorizontalPodAutoscaler"
	KindScaledObject = "ScaledObject"
)

// Autoscaler is a HorizontalPodAutoscaler or one of KEDA's ScaledObjects, as its object describes it. KEDA scales a ScaledObject's
// workload by a HorizontalPodAutoscaler that it creates, so that both scale alike.
type Autoscaler struct {
	// Kind is KindHPA or KindScaledObject.
	Kind, Namespace, Name string
	// Owner is the ScaledObject for which KEDA created this HorizontalPodAutoscaler; empty for others.
	Owner    string
	Workload leadtime.Workload
	// Min and Max are the replicas, with the defaults of the API server and of KEDA. A ScaledObject's Min may be 0 although the
	// HorizontalPodAutoscaler that KEDA creates has a minimum of 1.
	Min, Max int32
	// Idle is the number of replicas to which KEDA scales a ScaledObject while none of its triggers is active.
	Idle int32
	// Paused is the annotation that pauses KEDA for a ScaledObject; empty if there is none. PausedAt is the number of replicas that KEDA
	// keeps meanwhile; nil if it keeps the present number.
	Paused   string
	PausedAt *int32
	// Behavior is nil if the object has none. InvalidBehavior is why the API server would reject it.
	Behavior        *Behavior
	InvalidBehavior string
	// Metrics in the order of the object. An HPA without metrics has the API server's default, see DefaultMetric.
	Metrics []AutoscalerMetric
	// Status is nil if no controller has processed the object yet, and for a ScaledObject.
	Status *Status
}

// Ref returns the kind and the name: "HorizontalPodAutoscaler/llama".
func (a *Autoscaler) Ref() string { return a.Kind + "/" + a.Name }

// SpecOf returns how the autoscaler scales on some of its metrics, as its controller computes them.
func (a *Autoscaler) SpecOf(metrics ...*AutoscalerMetric) Spec {
	s := Spec{Min: a.Min, Max: a.Max, Behavior: a.Behavior, Cluster: DefaultCluster()}
	if a.Kind == KindScaledObject {
		s.Min = max(s.Min, 1)
	}
	// The API server rejects a minimum of 0 if the controller cannot scale to zero.
	s.Cluster.ScaleToZero = s.Min == 0
	for _, m := range metrics {
		s.Metrics = append(s.Metrics, m.Metric)
	}
	return s
}

// AutoscalerMetric is one metric of a HorizontalPodAutoscaler, or one trigger of a ScaledObject.
type AutoscalerMetric struct {
	// Metric is how the controller computes it. It has no Source if the metric reads single pods, and a Target of 0 if that is
	// invalid or, in a trigger of Forewarm, left to the Forecast.
	Metric

	// Kind is "External metric", "Pods metric", "prometheus trigger". Trigger is the name of a trigger that has one.
	Kind, Trigger string
	// Invalid is why the API server would reject the metric. Refused is why the metric does not compare the total demand with what a
	// replica sustains, and what to write instead. Both are empty for a metric that does.
	Invalid, Refused string
	// Container of a ContainerResource metric.
	Container string
	// PerPod is true for a mean over the pods. Its target is what a replica sustains.
	PerPod bool
	// Utilization is the target of a Resource metric in percent of what the pods request; 0 for others.
	Utilization int32
	// TargetText and CurrentText describe the target and the value in the status, for a metric that reads single pods.
	TargetText, CurrentText string
	// Reading is the value in the status, in milli-units; nil if unknown. With an AverageValue target, it is divided by the number of
	// replicas.
	Reading *int64
	// Selector is the label selector of the metric's series as kubectl prints it. Labels are its labels with single values. InvalidSelector
	// says why it has other requirements.
	Selector        string
	Labels          map[string]string
	InvalidSelector string
	// Described is the object that an Object metric describes.
	Described leadtime.Workload
	// Metadata of a trigger.
	Metadata map[string]string
	// Forecast is the Forecast that the metric refers to; empty if it refers to none. Unless it is Certain, the metric may belong to
	// another adapter, because every External metric has a name.
	Forecast string
	Certain  bool
	// Fleet is the GPUFleet whose spare GPUs the metric counts for a consumer, the Batch; empty for other metrics. A Forecast with the
	// metric's name comes first.
	Fleet, Batch string
}

// String returns the kind and the name: "External metric vllm-inflight".
func (m *AutoscalerMetric) String() string { return m.Kind + " " + cmp.Or(m.Trigger, m.Name) }

// Activation returns the value above which KEDA considers the trigger active. It is the trigger's activation key, or 0.
func (m *AutoscalerMetric) Activation() float64 {
	for key, text := range m.Metadata {
		if strings.HasPrefix(key, "activation") {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				return v
			}
		}
	}
	return 0
}

// Unusable returns why the metric does not compare the total demand with what a replica sustains: it is refused, or no target is known.
// It is empty for a metric that does.
func (m *AutoscalerMetric) Unusable() string {
	if m.Refused == "" && m.Target == 0 {
		return "nothing says what one replica sustains: set target in the trigger's metadata"
	}
	return m.Refused
}

// Query returns the PromQL of a trigger that has one, otherwise the name of the metric.
func (m *AutoscalerMetric) Query() string {
	if query, found := m.Metadata["query"]; found {
		return query
	}
	return m.Name
}

// DefaultMetric returns the metric that the API server adds to a HorizontalPodAutoscaler without any.
func DefaultMetric() AutoscalerMetric {
	return AutoscalerMetric{
		Metric: Metric{Name: "cpu"}, Kind: "Resource metric", TargetText: "80% of the request",
		Refused: "the usage of the pods is not the demand",
	}
}

// Status of an HPA.
type Status struct {
	// Desired and Current replicas at the newest sync.
	Desired, Current int32
	// LastScale is the time of the last change; zero if there was none.
	LastScale time.Time
	// Outdated is true if the status is of an older spec.
	Outdated   bool
	Conditions []Condition
}

// Condition of an HPA.
type Condition struct {
	Type    string
	True    bool
	Reason  string
	Message string
}

// Condition returns the condition of a type, and whether the status has it. A nil status has none.
func (s *Status) Condition(kind string) (Condition, bool) {
	if s == nil {
		return Condition{}, false
	}
	i := slices.IndexFunc(s.Conditions, func(c Condition) bool { return c.Type == kind })
	if i < 0 {
		return Condition{}, false
	}
	return s.Conditions[i], true
}
