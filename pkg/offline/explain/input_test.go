package explain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

func TestFromAutoscaler(t *testing.T) {
	reading := int64(3000)
	metric := func(name string, source hpa.MetricType, target int64) hpa.AutoscalerMetric {
		return hpa.AutoscalerMetric{
			Metric: hpa.Metric{Name: name, Source: source, Target: target}, Kind: "External metric", Reading: &reading,
		}
	}
	pods := metric("queue", "", 5000)
	pods.Kind, pods.Container, pods.TargetText = "Pods metric", "server", "5"
	invalid := metric("orders", hpa.External, 0)
	invalid.Invalid = "a target of 0"
	a := &hpa.Autoscaler{
		Kind: hpa.KindHPA, Namespace: "ai", Name: "llama", Min: 2, Max: 9, Status: &hpa.Status{Desired: 3},
		Workload: leadtime.Workload{Kind: "Deployment", Name: "llama"},
		Metrics:  []hpa.AutoscalerMetric{metric("llama", hpa.External, 64_000), pods},
	}
	got, err := explain.FromAutoscaler(a)
	if err != nil || got.HPA != "ai/llama" || got.Target != "Deployment/llama" ||
		got.Live.Desired != 3 || got.Spec.Min != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if len(got.Metrics) != 1 || got.Metrics[0].Of.Name != "llama" || *got.Metrics[0].InStatus != reading {
		t.Errorf("%+v is computed", got.Metrics)
	}
	want := []explain.UncomputedMetric{{Type: "Pods", Name: "queue of server", Target: "5"}}
	if diff := cmp.Diff(want, got.Uncomputed); diff != "" {
		t.Error(diff)
	}

	a.InvalidBehavior, a.Metrics = "periodSeconds 0", []hpa.AutoscalerMetric{invalid}
	if _, err = explain.FromAutoscaler(a); err == nil || !strings.Contains(err.Error(), "behavior: periodSeconds 0") ||
		!strings.Contains(err.Error(), "metrics[0]: a target of 0") {
		t.Errorf("%v", err)
	}

	a.InvalidBehavior, a.Metrics = "", nil
	if got, err = explain.FromAutoscaler(a); err != nil || len(got.Uncomputed) != 1 || got.Uncomputed[0].Name != "cpu" {
		t.Errorf("without metrics %+v, %v", got.Uncomputed, err)
	}
	a.Kind, a.Metrics = hpa.KindScaledObject, []hpa.AutoscalerMetric{metric("orders", hpa.External, 0)}
	if got, err = explain.FromAutoscaler(a); err != nil || len(got.Metrics) != 0 || len(got.Uncomputed) != 1 ||
		!strings.Contains(got.Uncomputed[0].Why, "set target") {
		t.Errorf("a trigger without a target: %+v, %v", got.Uncomputed, err)
	}
}
