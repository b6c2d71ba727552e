package autoscaler

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// kedaDefaultMax is KEDA's default of maxReplicaCount.
const kedaDefaultMax = 100

// scaledObject is the spec of a ScaledObject of keda.sh/v1alpha1. Fields of type any are known and ignored.
type scaledObject struct {
	ScaleTargetRef        scaleTarget `json:"scaleTargetRef"`
	MinReplicaCount       *int32      `json:"minReplicaCount"`
	MaxReplicaCount       *int32      `json:"maxReplicaCount"`
	IdleReplicaCount      *int32      `json:"idleReplicaCount"`
	PollingInterval       any         `json:"pollingInterval"`
	CooldownPeriod        any         `json:"cooldownPeriod"`
	InitialCooldownPeriod any         `json:"initialCooldownPeriod"`
	Fallback              any         `json:"fallback"`
	Advanced              advanced    `json:"advanced"`
	Triggers              []trigger   `json:"triggers"`
}

type scaleTarget struct {
	APIVersion             string `json:"apiVersion"`
	Kind                   string `json:"kind"`
	Name                   string `json:"name"`
	EnvSourceContainerName any    `json:"envSourceContainerName"`
}

type advanced struct {
	HPA       hpaConfig `json:"horizontalPodAutoscalerConfig"`
	Modifiers modifiers `json:"scalingModifiers"`
	Restore   any       `json:"restoreToOriginalReplicaCount"`
}

type hpaConfig struct {
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior"`
	Name     any                                            `json:"name"`
}

type modifiers struct {
	Formula    string `json:"formula"`
	Target     any    `json:"target"`
	Activation any    `json:"activationTarget"`
	MetricType any    `json:"metricType"`
}

type trigger struct {
	Type             string                         `json:"type"`
	Name             string                         `json:"name"`
	MetricType       autoscalingv2.MetricTargetType `json:"metricType"`
	Metadata         map[string]string              `json:"metadata"`
	UseCachedMetrics any                            `json:"useCachedMetrics"`
	Authentication   any                            `json:"authenticationRef"`
}

// FromScaledObject reads a ScaledObject. The error is that its spec does not fit its type: KEDA cannot read it either.
func FromScaledObject(object *unstructured.Unstructured) (*hpa.Autoscaler, error) {
	read, err := decodeSpec(object)
	if err != nil {
		return nil, fmt.Errorf("its spec is not a valid ScaledObject: %w", err)
	}
	return read.autoscaler(object.GetNamespace(), object.GetName(), object.GetAnnotations()), nil
}

// Annotations that stop KEDA from scaling, or from scaling in one direction. A value that is not a boolean means true.
const (
	pausedAnnotation         = "autoscaling.keda.sh/paused"
	pausedReplicasAnnotation = "autoscaling.keda.sh/paused-replicas"
	pausedScaleInAnnotation  = "autoscaling.keda.sh/paused-scale-in"
	pausedScaleOutAnnotation = "autoscaling.keda.sh/paused-scale-out"
)

// isSet reports whether KEDA treats an annotation as true.
func isSet(annotations map[string]string, name string) bool {
	text, found := annotations[name]
	is, err := strconv.ParseBool(text)
	return found && (is || err != nil)
}

// pausedBy returns the annotation that pauses a ScaledObject; empty if there is none.
func pausedBy(annotations map[string]string) string {
	name := ""
	if isSet(annotations, pausedAnnotation) {
		name = pausedAnnotation
	}
	if _, found := annotations[pausedReplicasAnnotation]; found {
		name = pausedReplicasAnnotation
	}
	if name == "" {
		return ""
	}
	return name + ": " + strconv.Quote(annotations[name])
}

// pausedDirections returns the behavior of the HPA that KEDA creates. A direction that an annotation pauses is disabled.
func pausedDirections(
	b *autoscalingv2.HorizontalPodAutoscalerBehavior, annotations map[string]string,
) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	in, out := isSet(annotations, pausedScaleInAnnotation), isSet(annotations, pausedScaleOutAnnotation)
	if !in && !out {
		return b
	}
	b = b.DeepCopy()
	if b == nil {
		b = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	}
	disabled := autoscalingv2.DisabledPolicySelect
	disable := func(rules **autoscalingv2.HPAScalingRules) {
		if *rules == nil {
			*rules = &autoscalingv2.HPAScalingRules{}
		}
		(*rules).SelectPolicy = &disabled
	}
	if in {
		disable(&b.ScaleDown)
	}
	if out {
		disable(&b.ScaleUp)
	}
	return b
}

// autoscaler returns how a ScaledObject scales, with KEDA's defaults.
func (s *scaledObject) autoscaler(namespace, name string, annotations map[string]string) *hpa.Autoscaler {
	ref := s.ScaleTargetRef
	out := &hpa.Autoscaler{
		Kind: hpa.KindScaledObject, Namespace: namespace, Name: name,
		Workload: leadtime.Workload{
			Namespace: namespace, Name: ref.Name,
			APIVersion: cmp.Or(ref.APIVersion, "apps/v1"), Kind: cmp.Or(ref.Kind, "Deployment"),
		},
		Max: kedaDefaultMax, Paused: pausedBy(annotations),
	}
	if n := s.MinReplicaCount; n != nil {
		out.Min = *n
	}
	out.Idle = out.Min
	if n := s.IdleReplicaCount; n != nil {
		out.Idle = *n
	}
	if n := s.MaxReplicaCount; n != nil {
		out.Max = *n
	}
	if n, err := strconv.ParseInt(annotations[pausedReplicasAnnotation], 10, 32); err == nil {
		at := int32(n)
		out.PausedAt = &at
	}
	setBehavior(out, pausedDirections(s.Advanced.HPA.Behavior, annotations))
	for i := range s.Triggers {
		t := &s.Triggers[i]
		m := hpa.AutoscalerMetric{
			Metric: hpa.Metric{
				Name:   t.metricName(i),
				Source: hpa.External,
				Type:   hpa.AverageValue,
			},
			Kind:     t.Type + " trigger",
			Trigger:  t.Name,
			Metadata: t.Metadata,
			Forecast: t.forecast(),
			Certain:  true,
			Fleet:    t.own("fleet"),
			Batch:    t.own("batch"),
		}
		if t.MetricType == autoscalingv2.ValueMetricType {
			m.Type = hpa.Value
		}
		target, problem := t.replicaTarget()
		whole := cmp.Or(s.checkTriggerNames(), s.checkIdle())
		if !t.readsPods() { // KEDA does not change metrics of resources.
			whole = cmp.Or(s.checkFormula(), whole)
		}
		m.Target, m.Refused = target, refusal(out, cmp.Or(whole, t.check(), problem))
		if whole == "" {
			m.Utilization = t.utilization()
		}
		out.Metrics = append(out.Metrics, m)
	}
	return out
}

// metricName returns the name that KEDA gives to the metric of the i-th trigger. It consists of the index, the type, and what the trigger
// reads. The trigger's own name is not part of it.
func (t *trigger) metricName(i int) string {
	if t.readsPods() {
		return t.Type
	}
	named := t.Type
	switch t.Type {
	case "external", "external-push":
		named = cmp.Or(t.forecast(), t.Type)
		if of := t.own("fleet"); of != "" {
			named = of + fleet.MetricSuffix
		}
	case "metrics-api":
		named = "metric-api-" + t.Metadata["valueLocation"]
	case "influxdb":
		named += "-" + cmp.Or(t.Metadata["organizationName"], t.Metadata["database"])
	case "azure-monitor":
		named += "-" + t.Metadata["metricName"]
	case "kafka":
		named += "-" + cmp.Or(t.Metadata["topic"], t.Metadata["consumerGroup"]+"-topics")
	case "cron":
		named = strings.Join(
			[]string{t.Type, t.Metadata["timezone"], cronName(t.Metadata["start"]), cronName(t.Metadata["end"])},
			"-",
		)
	}
	return "s" + strconv.Itoa(
		i,
	) + "-" + strings.NewReplacer("/", "-", ".", "-", ":", "-", "%", "-", "(", "-", ")", "-").
		Replace(strings.TrimRight(named, "-"))
}

// cronName returns a schedule as it appears in the names of KEDA's metrics.
func cronName(schedule string) string {
	return strings.NewReplacer(" ", "", "*", "x", "/", "Sl", "?", "Qm", ",", "Cm").Replace(schedule)
}

// forecast returns the Forecast to which a trigger refers; empty if it refers to none.
func (t *trigger) forecast() string { return t.own("forecast") }

// own returns what a trigger of Forewarm's scaler has for a key.
func (t *trigger) own(key string) string {
	if t.Type == "external" || t.Type == "external-push" {
		return t.Metadata[key]
	}
	return ""
}

// decodeSpec decodes a spec from JSON, because the converter for unstructured objects would truncate numbers. A tolerance is checked before
// it is parsed, see parse.Bounded.
func decodeSpec(object *unstructured.Unstructured) (read scaledObject, err error) {
	content, isMap := object.Object["spec"].(map[string]any)
	if !isMap {
		return read, errors.New("it is not an object")
	}
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		text, there, wrong := unstructured.NestedString(content,
			"advanced", "horizontalPodAutoscalerConfig", "behavior", direction, "tolerance")
		if wrong == nil && there && !parse.Bounded(text) {
			return read, fmt.Errorf("%.64q is not a tolerance", text)
		}
	}
	text, err := json.Marshal(content)
	if err == nil {
		err = utiljson.UnmarshalCaseSensitivePreserveInts(text, &read)
	}
	return read, err
}

// checkFormula says why the triggers alone do not determine how the object scales.
func (s *scaledObject) checkFormula() (refused string) {
	if s.Advanced.Modifiers.Formula != "" {
		return "its scalingModifiers compute another value from its triggers: remove the formula"
	}
	return ""
}

// checkTriggerNames says why KEDA rejects the names of the triggers.
func (s *scaledObject) checkTriggerNames() (refused string) {
	named := map[string]bool{}
	for i := range s.Triggers {
		name := s.Triggers[i].Name
		if name != "" && named[name] {
			return fmt.Sprintf("KEDA rejects it: two triggers have the name %.64q: give each its own", name)
		}
		named[name] = true
	}
	return ""
}

// check says why the trigger does not compare a total with the demand that a replica sustains.
func (t *trigger) check() (refused string) {
	switch {
	case t.readsPods() && t.MetricType != autoscalingv2.UtilizationMetricType:
		return "the usage of the pods is not the demand, and Forewarm can only convert a target in percent: write " +
			`metricType: Utilization, and for example value: "60"`
	case t.readsPods():
		return "the usage of the pods is not the demand, and Forewarm does not convert it"
	case t.MetricType == autoscalingv2.ValueMetricType:
		return "its target of type Value multiplies the total demand by the ready pods: write metricType: AverageValue"
	case t.MetricType == autoscalingv2.UtilizationMetricType:
		return fmt.Sprintf("KEDA rejects metricType: Utilization in a trigger of type %.64s: write metricType: "+
			"AverageValue", t.Type)
	case t.MetricType != "" && t.MetricType != autoscalingv2.AverageValueMetricType:
		return fmt.Sprintf("its metricType %.64q does not exist: write metricType: AverageValue", t.MetricType)
	case t.Type == "prometheus" && t.Metadata["query"] == "":
		return "KEDA rejects it: query is missing in its metadata"
	}
	return ""
}

func (t *trigger) readsPods() bool { return t.Type == "cpu" || t.Type == "memory" }

// utilization returns the target as a percentage of what the pods request; 0 if the trigger has no such target.
func (t *trigger) utilization() int32 {
	percent, err := strconv.ParseInt(t.Metadata["value"], 10, 32)
	if !t.readsPods() || t.MetricType != autoscalingv2.UtilizationMetricType || err != nil || percent <= 0 {
		return 0
	}
	return int32(percent)
}

// checkIdle says why KEDA rejects the number of idle replicas.
func (s *scaledObject) checkIdle() (refused string) {
	least := int32(0) // As in KEDA's check: 0 if it is absent, otherwise the HPA's minimum.
	if s.MinReplicaCount != nil {
		least = max(1, *s.MinReplicaCount)
	}
	if idle := s.IdleReplicaCount; idle != nil && *idle >= least {
		return fmt.Sprintf("KEDA rejects it: IdleReplicaCount=%d must be less than MinReplicaCount=%d: raise "+
			"minReplicaCount, or remove idleReplicaCount", *idle, least)
	}
	return ""
}

// targetKeys returns the keys of the target per replica, by trigger type. It has the types whose value is a query of a metric store.
func targetKeys() map[string]string {
	return map[string]string{
		"aws-cloudwatch":  "targetMetricValue",
		"azure-monitor":   "targetValue",
		"datadog":         "targetValue",
		"dynatrace":       "threshold",
		"gcp-stackdriver": "targetValue",
		"graphite":        "threshold",
		"influxdb":        "thresholdValue",
		"loki":            "threshold",
		"metrics-api":     "targetValue",
		"new-relic":       "threshold",
		"prometheus":      "threshold",
	}
}

// replicaTarget returns a trigger's target per replica in thousandths, or 0 if the Forecast's target applies, or says why it has none.
func (t *trigger) replicaTarget() (milli int64, refused string) {
	key := targetKeys()[t.Type]
	if _, former := t.Metadata["queryValue"]; former && t.Type == "datadog" {
		key = "queryValue"
	}
	switch {
	case key != "":
		value, err := strconv.ParseFloat(t.Metadata[key], 64)
		if err != nil || !(value >= 0.001 && value < hpa.MaxValue) {
			return 0, fmt.Sprintf("its %s %.64q is not from 0.001 to %.3g: write what one replica sustains",
				key, t.Metadata[key], float64(hpa.MaxValue))
		}
		return int64(math.Trunc(value * 1000)), "" // KEDA drops further digits.
	case t.Metadata["forecast"] != "":
		return t.target()
	case t.own("fleet") != "" && t.Metadata["target"] == "":
		return 1000, "" // The metric is a number of replicas.
	case t.own("fleet") != "":
		return t.target()
	}
	return 0, fmt.Sprintf("the value of a trigger of type %.64s is not a demand from a metrics store: use for "+
		"example a trigger of type prometheus", t.Type)
}

// target returns the target per replica in thousandths, rounded as in Forewarm's scaler; 0 if there is none.
func (t *trigger) target() (milli int64, refused string) {
	text, stated := t.Metadata["target"]
	if !stated {
		return 0, ""
	}
	quantity, err := parse.Quantity(text)
	if err != nil {
		return 0, "its target " + err.Error()
	}
	value := quantity.AsApproximateFloat64()
	if !(value >= 0.0005 && value < hpa.MaxValue) {
		return 0, fmt.Sprintf("its target %.64q is not from 0.001 to %.3g, write for example 64, 0.5 or 4k", text,
			float64(hpa.MaxValue))
	}
	return int64(math.Round(value * 1000)), ""
}
