package autoscaler

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// The kinds of autoscalers.
const (
	KindHPA          = "HorizontalPodAutoscaler"
	KindScaledObject = "ScaledObject"
)

// HPAs is the resource of HorizontalPodAutoscalers.
func HPAs() schema.GroupVersionResource {
	return autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
}

// ScaledObjects is that of KEDA's autoscalers. A cluster need not have it.
func ScaledObjects() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
}

// Exposing returns the Forecast that answers the metric of an HPA of a namespace by its alias, of all Forecasts, and the view of it
// that the metric asks for; an empty name where none does.
func (s *Source) Exposing(namespace string, all []v1alpha1.Forecast) (name string, view map[string]string) {
	if s.Metric == nil {
		return "", nil
	}
	if read, found := forecastMetric(s.Metric); found {
		if alias, asked := aliasOf(&read); alias != nil {
			return AliasHolders(all)[alias.Key(namespace)].Name, asked
		}
	}
	return "", nil
}

// AliasHolders returns the Forecast that answers under each alias (snapshot.Alias.Key), of all Forecasts.
func AliasHolders(all []v1alpha1.Forecast) map[snapshot.Key]snapshot.Key {
	aliases := map[snapshot.Key]*snapshot.Alias{}
	for i := range all {
		f, key := &all[i], snapshot.Key{Namespace: all[i].Namespace, Name: all[i].Name}
		if aliases[key] = nil; f.Spec.Expose != nil {
			aliases[key] = &snapshot.Alias{
				Metric: f.Spec.Expose.Metric, Labels: f.Spec.Expose.MatchLabels, Created: f.CreationTimestamp.Time,
			}
		}
	}
	return snapshot.Holders(aliases)
}

// averageValueSpec returns how an autoscaler scales on one metric: a total, compared with what a replica sustains; or
// why it is refused. The caller sets the bounds of the replicas.
func averageValueSpec(
	name string, source hpa.MetricType, target int64, b *autoscalingv2.HorizontalPodAutoscalerBehavior,
) (spec hpa.Spec, refused string) {
	behavior, err := readBehavior(b)
	if err != nil {
		return hpa.Spec{}, "its behavior is invalid: " + err.Error()
	}
	return hpa.Spec{
		Min: 1, Metrics: []hpa.Metric{{Name: name, Source: source, Type: hpa.AverageValue, Target: target}},
		Behavior: behavior, Cluster: hpa.DefaultCluster(),
	}, ""
}

// parseAverageValue returns a target in thousandths, rounded up like the HPA's controller does, or why it is invalid.
func parseAverageValue(target *resource.Quantity) (milli int64, problem string) {
	switch {
	case target == nil || target.Sign() <= 0:
		return 0, "its averageValue is not above 0: write what one replica sustains"
	case target.AsApproximateFloat64() >= hpa.MaxValue:
		return 0, fmt.Sprintf("its averageValue is not below %.3g: state the demand in a larger unit",
			float64(hpa.MaxValue))
	}
	return target.MilliValue(), ""
}

// setSelection sets the candidate that a metric selects (empty for the Forecast's own) and the variant, and why the selection is
// refused. A selection with another objective or mode is calibrated like the Forecast. The objective does not apply
// to another horizon or to a quantile.
func setSelection(r *manifest.Reference, asked map[string]string) {
	selection, err := decide.ParseSelector(asked)
	candidate, known := windowpeak.CanonicalName(selection.Model)
	r.Variant, r.Candidate, r.Refused = selection.Variant, candidate, ""
	const noObjective = "its selector has %s=%v, to which no objective applies: remove it"
	switch {
	case err != nil:
		r.Candidate, r.Refused = "", "its selector is invalid: "+err.Error()
	case selection.Model != "" && !known:
		r.Candidate, r.Refused = "", fmt.Sprintf("its selector has model=%.64s, known models are %s", selection.Model,
			strings.Join(windowpeak.CandidateNames(), ", "))
	case selection.Quantile != 0:
		r.Refused = fmt.Sprintf(noObjective, "quantile", selection.Quantile)
	case selection.Horizon != 0:
		r.Refused = fmt.Sprintf(noObjective, "horizon", selection.Horizon)
	}
}

// readBehavior returns a behavior with the API server's defaults. Without one the algorithm is another (see hpa.Spec).
func readBehavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior) (*hpa.Behavior, error) {
	if b == nil {
		return nil, nil //nolint:nilnil // No behavior is one of the two that there are.
	}
	up, errUp := readRules("scaleUp", b.ScaleUp, hpa.DefaultScaleUp())
	down, errDown := readRules("scaleDown", b.ScaleDown, hpa.DefaultScaleDown())
	if err := errors.Join(errUp, errDown); err != nil {
		return nil, err
	}
	return &hpa.Behavior{Up: up, Down: down}, nil
}

// readRules returns the rules of one direction, with its defaults.
func readRules(direction string, from *autoscalingv2.HPAScalingRules, rules hpa.Rules) (hpa.Rules, error) {
	if from == nil {
		return rules, nil
	}
	if seconds := from.StabilizationWindowSeconds; seconds != nil {
		if *seconds < 0 {
			// In hpa.Rules a negative window means the cluster's default.
			return hpa.Rules{}, fmt.Errorf("%s: stabilizationWindowSeconds %d: want 0 or more", direction, *seconds)
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

// unbounded matches quantities that must not be parsed, see parse.Bounded.
var unbounded = regexp.MustCompile(`"[-+.0-9]+[eE][-+]?\d{3,}"`)

// OutlineOf reads an autoscaler as a cluster or a file has it.
func OutlineOf(object *unstructured.Unstructured) (o Outline, err error) {
	o.Ref = object.GetKind() + "/" + object.GetName()
	if object.GetKind() == KindScaledObject {
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
