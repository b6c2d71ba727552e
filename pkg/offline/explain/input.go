package explain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Input is what is known of an HPA at one moment.
type Input struct {
	// HPA is its namespace and name: "inference/llama".
	HPA string
	// Target is what it scales: "Deployment/llama".
	Target string
	// Now is the time of the readings.
	Now time.Time
	// Spec with the metrics that can be computed, External and Object. It may have none if Uncomputed has some.
	Spec hpa.Spec
	// Metrics is what is known of each metric of the Spec, in its order.
	Metrics []Metric
	// Uncomputed are the metrics that are not computed: most read single pods.
	Uncomputed []UncomputedMetric
	Scale      Scale
	// Lead is the time from "more replicas" to "ready"; 0 if it is known only from Forecasts, or not at all.
	Lead time.Duration
	// Live is the HPA's status; nil without one, as in a file.
	Live *hpa.Status
	// Owner is KEDA's ScaledObject that the HPA is made from, empty where there is none.
	Owner string
	// Paused is the annotation by which KEDA does not scale the target; empty without one. PausedAt is the number of replicas that KEDA
	// keeps meanwhile; nil for the present ones.
	Paused   string
	PausedAt *int32
	// Scaler is how KEDA scales around the HPA that it creates; the zero value for an HPA of another.
	Scaler Scaler
	// Unknown lists what could not be read, and what is used instead.
	Unknown []string
	// OtherAutoscalers are other autoscalers of the same target: "HorizontalPodAutoscaler/other".
	OtherAutoscalers []string
}

// Scaler is what KEDA does itself: it scales from and to Idle replicas.
type Scaler struct {
	// Scales is false for an HPA that KEDA did not create.
	Scales bool
	// Idle is the number of replicas while no trigger is active; it is the HPA's minimum if KEDA does not scale down further.
	Idle int32
	// Activation has the value above which each metric of the Spec is active.
	Activation []float64
}

// FromAutoscaler returns what an autoscaler's object says. The caller adds the time, the readings, the scale and the Forecasts. The
// error lists everything that the API server would reject.
func FromAutoscaler(a *hpa.Autoscaler) (Input, error) {
	s := Input{
		HPA:    a.Namespace + "/" + a.Name,
		Target: a.Workload.Kind + "/" + a.Workload.Name,
		Owner:  a.Owner,
		Paused: a.Paused, PausedAt: a.PausedAt,
		Live: a.Status,
	}
	var problems []error
	if a.InvalidBehavior != "" {
		problems = append(problems, fmt.Errorf("behavior: %s", a.InvalidBehavior))
	}
	var computed []*hpa.AutoscalerMetric
	for i := range a.Metrics {
		m := &a.Metrics[i]
		switch {
		case m.Invalid != "":
			problems = append(problems, fmt.Errorf("metrics[%d]: %s", i, m.Invalid))
		case a.Kind == hpa.KindScaledObject && m.Unusable() != "" && (m.Type != hpa.Value || m.Target == 0):
			s.Uncomputed = append(s.Uncomputed, UncomputedMetric{Type: m.Kind, Name: m.Name, Why: m.Unusable()})
		case m.Source == "":
			s.addUncomputed(m)
		default:
			computed = append(computed, m)
			s.Metrics = append(s.Metrics, Metric{Of: m})
			if a.Status != nil {
				s.Metrics[len(s.Metrics)-1].InStatus = m.Reading
			}
		}
	}
	if len(a.Metrics) == 0 && a.Kind == hpa.KindHPA {
		m := hpa.DefaultMetric()
		s.addUncomputed(&m)
	}
	s.Spec = a.SpecOf(computed...)
	if a.Kind == hpa.KindScaledObject {
		s.Scaler = Scaler{Scales: true, Idle: a.Idle}
		for _, m := range computed {
			s.Scaler.Activation = append(s.Scaler.Activation, m.Activation())
		}
	}
	return s, errors.Join(problems...)
}

func (s *Input) addUncomputed(m *hpa.AutoscalerMetric) {
	name := m.Name
	if m.Container != "" {
		name += " of " + m.Container
	}
	s.Uncomputed = append(s.Uncomputed, UncomputedMetric{
		Type: strings.TrimSuffix(m.Kind, " metric"), Name: name, Target: m.TargetText, Current: m.CurrentText,
	})
}

// Scale is the target's scale sub-resource and its pods.
type Scale struct {
	// Replicas that were asked for last, Existing that are there.
	Replicas, Existing int32
	// Pods under the target's selector and those that are ready; only Value targets look at them.
	Pods, Ready int32
}

// Metric is what is known of one metric in addition to its target.
type Metric struct {
	// Of is the metric as its autoscaler has it.
	Of *hpa.AutoscalerMetric
	// InStatus is the value in the HPA's status, see hpa.AutoscalerMetric; nil if the status has none.
	InStatus *int64
	Reading  hpa.Reading
	// From is the source of the reading: "external.metrics.k8s.io", "the HPA's status".
	From string
	// Forecast behind it; nil where it names none.
	Forecast *Forecast
}

// UncomputedMetric is a metric that is not computed, as the HPA's status has it.
type UncomputedMetric struct {
	// Type of the metric: Resource, ContainerResource, Pods, "cron trigger".
	Type string
	// Name of the resource or the metric, Target in words ("80% of the request"), Current likewise; empty where unknown.
	Name, Target, Current string
	// Why it is not computed; empty where it reads single pods.
	Why string
}

// Forecast is the outlook of a metric's Forecast. A number that is not known is NaN.
type Forecast struct {
	// Name without the namespace, which is the HPA's own.
	Name string
	// Missing is the reason why there is no outlook; all that follows is then empty.
	Missing string
	State   snapshot.State
	// ReadyMessage is the message of the condition Ready, which explains the State.
	ReadyMessage string
	Unit         string
	// Observed is the demand now, Served the value with the Forecast's own settings.
	Observed, Served float64
	// Peak is the highest of the path ahead, Highest that of the demand of the last day.
	Peak, Highest float64
	// Steepest is the largest rise of the last day within the lead time.
	Steepest Rise
	// Goal is the setting of the value: "1% late". Selector has the HPA's own keys, such as "horizon=10m".
	Goal, Selector string
	// Lead time, LeadSource where that is known from, Window that the value looks ahead.
	Lead, Window time.Duration
	LeadSource   string
	// LeadPool is the warm pool that makes the lead time hold; empty where none does.
	LeadPool string
	// Cover is the warm pool that the lead time rests on; nil without one.
	Cover *Cover
	// Reason of the value in a sentence.
	Reason string
	// Shadow is true if the value does not look ahead: it is the observed demand (serve: Shadow). Paused is true if it is
	// also the highest of the default stabilization, as the HPA before had it.
	Shadow, Paused bool
	// Saturated is why the demand is censored, AtMaxReplicas why maxReplicas prevents the objective; empty otherwise.
	Saturated, AtMaxReplicas string
}

// Rise of a demand; of NaN where there is none.
type Rise struct{ From, To float64 }

// validate returns everything that is wrong with an Input.
func (s *Input) validate() error {
	var problems []error
	if len(s.Metrics) != len(s.Spec.Metrics) {
		problems = append(problems, fmt.Errorf("%d readings for %d metrics", len(s.Metrics), len(s.Spec.Metrics)))
	}
	if min(s.Scale.Replicas, s.Scale.Existing, s.Scale.Pods, s.Scale.Ready) < 0 {
		problems = append(problems, fmt.Errorf("%+v: replicas below 0", s.Scale))
	}
	if len(s.Spec.Metrics) > 0 || len(s.Uncomputed) == 0 {
		problems = append(problems, s.Spec.Validate())
	}
	return errors.Join(problems...)
}

// observed returns what the controller reads at a sync.
func (s *Input) observed() hpa.Observed {
	o := hpa.Observed{
		Replicas: s.Scale.Replicas, Existing: s.Scale.Existing, Pods: s.Scale.Pods, Ready: s.Scale.Ready,
	}
	for i := range s.Metrics {
		o.Readings = append(o.Readings, s.Metrics[i].Reading)
	}
	return o
}

// lead returns the longest known lead time; 0 if none is known.
func (s *Input) lead() time.Duration {
	lead := s.Lead
	for i := range s.Metrics {
		if f := s.Metrics[i].Forecast; f != nil {
			lead = max(lead, f.Lead)
		}
	}
	return lead
}

// Explanation is what an HPA computes at its next sync, and why.
type Explanation struct {
	HPA    string `json:"hpa"`
	Target string `json:"target"`
	// Replicas is the present scale.
	Replicas int32 `json:"replicas"`
	// Desired is what the next sync asks for; absent if none of the metrics can be computed. While KEDA is paused, it is what KEDA keeps.
	Desired *int32 `json:"desiredReplicas,omitempty"`
	// AtLeast is true if metrics that are not computed may ask for more than Desired.
	AtLeast bool `json:"atLeast,omitempty"`
	// Settles is where it ends if the readings stay as they are.
	Settles *Settling `json:"settles,omitempty"`
	// Sentences say why, in order.
	Sentences []string  `json:"sentences"`
	Warnings  []Warning `json:"warnings"`
	// Unknown lists what could not be read, and what is used instead.
	Unknown []string     `json:"unknown,omitempty"`
	Metrics []MetricLine `json:"metrics"`
	// Live is the HPA's own status; absent without one.
	Live *StatusComparison `json:"live,omitempty"`
}

// Settling is a number of replicas and how long it takes to come to it.
type Settling struct {
	Replicas int32 `json:"replicas"`
	// Seconds until then, at a sync of 15 s.
	Seconds float64 `json:"seconds"`
	// Open is true if it still changes at the end of the simulated time.
	Open bool `json:"open,omitempty"`
}

// Warning is something in an HPA that does harm, or keeps a forecast from doing good.
type Warning struct {
	// Reason in one word, for scripts.
	Reason string `json:"reason"`
	// Message is the problem with its numbers; Advice is what to do.
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

// MetricLine is one metric.
type MetricLine struct {
	Name string `json:"name"`
	// Type of the metric: External, Object, Resource, …
	Type string `json:"type"`
	// Target in words: "64 a replica".
	Target string `json:"target"`
	// Value that was read; absent where it could not be.
	Value *float64 `json:"value,omitempty"`
	// Live is the value by the HPA's status, in words.
	Live string `json:"live,omitempty"`
	// From is the source of Value.
	From string `json:"from,omitempty"`
	// Ratio of the value to its target, Proposes the replicas that the metric asks for; absent where not computed.
	Ratio    *float64 `json:"ratio,omitempty"`
	Proposes *int32   `json:"proposes,omitempty"`
	// WithinTolerance is true if the ratio is too near to 1 for a change.
	WithinTolerance bool `json:"withinTolerance,omitempty"`
	// Decides is true if this metric asks for the most.
	Decides bool `json:"decides,omitempty"`
	// Forecast behind the metric, by name.
	Forecast string `json:"forecast,omitempty"`
	// Error is the reason why there is no value.
	Error string `json:"error,omitempty"`
}

// StatusComparison compares an HPA's status with an Explanation.
type StatusComparison struct {
	Desired int32 `json:"desiredReplicas"`
	Agrees  bool  `json:"agrees"`
	// SameReadings is true if the HPA last read the explained values.
	SameReadings bool `json:"sameReadings"`
	// Why they can differ.
	Why []string `json:"why,omitempty"`
}
