package autoscaler_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// seeds are objects as JSON, which the fuzzer changes.
func seeds(f *testing.F, texts ...string) {
	f.Helper()
	for _, text := range texts {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// sound fails where a reference leads to a scaling that no shadow can run.
func sound(t *testing.T, references []manifest.Reference) {
	t.Helper()
	for i := range references {
		choice := manifest.ChooseAutoscalers(references, references[i].Workload, 64_000)
		if len(choice.Autoscalers) > decide.MaxAutoscalers {
			t.Fatalf("%d scalings", len(choice.Autoscalers))
		}
		for _, s := range choice.Autoscalers {
			usable := s.MaxCapacity()
			if err := s.HPA.Validate(); err != nil || !(s.Target() > 0) || !(usable > 0) || math.IsInf(usable, 0) {
				t.Fatalf("%+v: target %g, usable %g, %v", s, s.Target(), usable, err)
			}
		}
	}
}

func FuzzFromScaledObject(f *testing.F) {
	seeds(
		f,
		triggered(push64),
		triggered(asking(`target: "1e-30000000"`)),
		triggered(push64, "  maxReplicaCount: -1\n"),
		triggered(push64, `  minReplicaCount: 3
  advanced:
    scalingModifiers: {formula: ""}
    horizontalPodAutoscalerConfig:
      behavior: {scaleUp: {tolerance: 0.5, selectPolicy: Most, policies: [{type: Pods, value: 0, periodSeconds: 9999}]}}
`),
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		object := &unstructured.Unstructured{}
		if json.Unmarshal(data, &object.Object) != nil {
			t.Skip("not an object")
		}
		sound(t, fromScaledObject(object))
	})
}

func FuzzFromHPA(f *testing.F) {
	seeds(
		f,
		external(of64),
		external("{type: AverageValue, averageValue: 9e18}"),
		external(of64, "  minReplicas: -5\n"),
		selecting(`{matchLabels: {late: "2"}}`),
		external(of64, `  behavior:
    scaleUp: {tolerance: -1, stabilizationWindowSeconds: 2147483647, policies: []}
    scaleDown: {selectPolicy: Least, policies: [{type: Percent, value: -3, periodSeconds: 2147483647}]}
`),
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		var plain any
		object := &autoscalingv2.HorizontalPodAutoscaler{}
		// The API server has parsed every quantity before, see parse.Bounded.
		if json.Unmarshal(data, &plain) != nil || !bounded(plain) || json.Unmarshal(data, object) != nil {
			t.Skip("not an object that an API server would hand out")
		}
		sound(t, fromHPA(object))
	})
}

// bounded says whether every text within a value that has a digit may be parsed as a quantity.
func bounded(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if !bounded(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if !bounded(inner) {
				return false
			}
		}
	case string:
		return !strings.ContainsAny(v, "0123456789") || parse.Bounded(v)
	}
	return true
}
