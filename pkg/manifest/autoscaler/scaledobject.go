package autoscaler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
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

// FromScaledObject returns the triggers of a KEDA ScaledObject that name a Forecast. An object that does not fit its
// type has none: KEDA cannot read it either.
func FromScaledObject(object *unstructured.Unstructured) []manifest.Reference {
	read, ok := decodeSpec(object)
	if !ok {
		return nil
	}
	var out []manifest.Reference
	for i := range read.Triggers {
		t := &read.Triggers[i]
		name := t.forecast()
		if name == "" {
			continue
		}
		ref := manifest.Reference{
			Forecast:   snapshot.Key{Namespace: object.GetNamespace(), Name: name},
			Autoscaler: "ScaledObject/" + object.GetName(),
			Workload:   read.workload(object.GetNamespace()),
		}
		resolveKEDA(&ref, &read, t)
		out = append(out, ref)
	}
	return out
}

// forecast returns the Forecast that a trigger names; empty where it names none.
func (t *trigger) forecast() string {
	if t.Type == "external" || t.Type == "external-push" {
		return t.Metadata["forecast"]
	}
	return ""
}

// decodeSpec decodes a spec from JSON: the converter of unstructured objects would truncate numbers. A tolerance is
// checked before it is parsed, see parse.Bounded.
func decodeSpec(object *unstructured.Unstructured) (read scaledObject, ok bool) {
	spec, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec")
	content, isMap := spec.(map[string]any)
	if err != nil || !found || !isMap {
		return scaledObject{}, false
	}
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		text, there, wrong := unstructured.NestedString(content,
			"advanced", "horizontalPodAutoscalerConfig", "behavior", direction, "tolerance")
		if wrong == nil && there && !parse.Bounded(text) {
			return scaledObject{}, false
		}
	}
	text, err := json.Marshal(content)
	if err == nil {
		err = utiljson.UnmarshalCaseSensitivePreserveInts(text, &read)
	}
	return read, err == nil
}

// workload returns the workload, with KEDA's defaults.
func (s *scaledObject) workload(namespace string) leadtime.Workload {
	ref := s.ScaleTargetRef
	return leadtime.Workload{
		Namespace: namespace, Name: ref.Name,
		APIVersion: cmp.Or(ref.APIVersion, "apps/v1"), Kind: cmp.Or(ref.Kind, "Deployment"),
	}
}

// resolveKEDA sets how KEDA's HorizontalPodAutoscaler scales on a trigger that names a Forecast, or why it is refused.
func resolveKEDA(r *manifest.Reference, s *scaledObject, t *trigger) {
	setSelection(r, t.selection())
	if r.Refused = cmp.Or(s.checkTrigger(t), r.Refused); r.Refused != "" {
		return
	}
	r.Sleeps = s.MinReplicaCount == nil || *s.MinReplicaCount == 0
	target, refused := t.target()
	if r.Refused = refused; refused == "" {
		r.Spec, r.Refused = s.averageValueSpec(t.Metadata["forecast"], target)
	}
}

// checkTrigger returns why a trigger does not compare a total with what a replica sustains.
func (s *scaledObject) checkTrigger(t *trigger) (refused string) {
	if s.Advanced.Modifiers.Formula != "" {
		return "its scalingModifiers compute another value from its triggers: remove the formula"
	}
	if t.MetricType != "" && t.MetricType != autoscalingv2.AverageValueMetricType {
		return unsupportedTargetType(t.MetricType)
	}
	return ""
}

// averageValueSpec returns how KEDA's HorizontalPodAutoscaler scales on a total with a target in thousandths.
func (s *scaledObject) averageValueSpec(name string, target int64) (spec hpa.Spec, refused string) {
	if spec, refused = averageValueSpec(name, hpa.External, target, s.Advanced.HPA.Behavior); refused != "" {
		return spec, refused
	}
	spec.Max = kedaDefaultMax
	least := int32(0) // As in KEDA's check: absent means 0, present means the HPA's minimum.
	if s.MinReplicaCount != nil {
		spec.Min = max(1, *s.MinReplicaCount)
		least = spec.Min
	}
	if idle := s.IdleReplicaCount; idle != nil && *idle >= least {
		return spec, fmt.Sprintf("KEDA rejects it: IdleReplicaCount=%d must be less than MinReplicaCount=%d: raise "+
			"minReplicaCount, or remove idleReplicaCount", *idle, least)
	}
	if s.MaxReplicaCount != nil {
		spec.Max = *s.MaxReplicaCount
	}
	return spec, ""
}

// selection returns the selector in a trigger's metadata: all keys but those with another meaning.
func (t *trigger) selection() map[string]string {
	asked := maps.Clone(t.Metadata)
	for _, key := range []string{"forecast", "target", "activation", "scalerAddress", "enableTLS", "unsafeSsl"} {
		delete(asked, key)
	}
	return asked
}

// target returns the target per replica in thousandths, rounded as Forewarm's scaler does; 0 where there is none.
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
