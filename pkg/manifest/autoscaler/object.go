package autoscaler

import (
	"encoding/json"
	"errors"
	"regexp"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "sigs.k8s.io/json"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// HPAs is the resource of HorizontalPodAutoscalers.
func HPAs() schema.GroupVersionResource {
	return autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
}

// ScaledObjects is the resource of KEDA's autoscalers. A cluster need not have it.
func ScaledObjects() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
}

// FromObject reads an HPA or a ScaledObject as a cluster or a file has it.
func FromObject(object *unstructured.Unstructured) (*hpa.Autoscaler, error) {
	if object.GetKind() == hpa.KindScaledObject {
		return FromScaledObject(object)
	}
	h, err := DecodeHPA(object)
	if err != nil {
		return nil, err
	}
	return FromHPA(h), nil
}

// unbounded matches quantities that must not be parsed, see parse.Bounded.
var unbounded = regexp.MustCompile(`"[-+.0-9]+[eE][-+]?\d{3,}"`)

// DecodeHPA decodes an HPA as a cluster or a file has it.
func DecodeHPA(object *unstructured.Unstructured) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	text, err := json.Marshal(object.Object)
	if err != nil || object.GetAPIVersion() != "autoscaling/v2" || unbounded.Match(text) {
		return nil, errors.New("it is not of autoscaling/v2, or one of its values is not a quantity")
	}
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	return h, utiljson.UnmarshalCaseSensitivePreserveInts(text, h)
}
