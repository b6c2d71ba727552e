package hpa_test

import (
	"math"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

func TestAutoscaler(t *testing.T) {
	demand := hpa.AutoscalerMetric{
		Metric: hpa.Metric{Name: "llama", Source: hpa.External, Type: hpa.AverageValue, Target: 64_000},
		Kind:   "External metric",
	}
	a := hpa.Autoscaler{Kind: hpa.KindHPA, Name: "llama", Max: 20, Metrics: []hpa.AutoscalerMetric{demand}}
	if got := a.Ref(); got != "HorizontalPodAutoscaler/llama" {
		t.Error(got)
	}
	for kind, want := range map[string]int32{hpa.KindHPA: 0, hpa.KindScaledObject: 1} {
		a.Kind = kind
		s := a.SpecOf(&a.Metrics[0])
		if s.Min != want || s.Cluster.ScaleToZero != (want == 0) || s.Max != 20 || len(s.Metrics) != 1 ||
			s.Metrics[0].Target != 64_000 {
			t.Errorf("a %s scales by %+v, want a minimum of %d", kind, s, want)
		}
	}
}

func TestAutoscalerMetric(t *testing.T) {
	unset := hpa.AutoscalerMetric{Metadata: map[string]string{"query": "sum(x)"}}
	unset.Name = "orders"
	used, refused := unset, hpa.DefaultMetric()
	used.Target, used.Metadata, used.Kind = 1000, nil, "External metric"
	for _, c := range []struct {
		metric          hpa.AutoscalerMetric
		unusable        bool
		query, asString string
	}{
		{unset, true, "sum(x)", " orders"},
		{used, false, "orders", "External metric orders"},
		{refused, true, "cpu", "Resource metric cpu"},
	} {
		m := &c.metric
		if (m.Unusable() != "") != c.unusable || m.Query() != c.query || m.String() != c.asString {
			t.Errorf("%q reads %q, %q", m, m.Query(), m.Unusable())
		}
	}
}

func TestConditionOfAStatus(t *testing.T) {
	var none *hpa.Status
	if _, has := none.Condition("AbleToScale"); has {
		t.Error("an HPA that was never processed has a condition")
	}
	s := &hpa.Status{Conditions: []hpa.Condition{{Type: "ScalingActive"}, {Type: "AbleToScale", Reason: "Ready"}}}
	if c, has := s.Condition("AbleToScale"); !has || c.Reason != "Ready" {
		t.Errorf("%+v", c)
	}
	if _, has := s.Condition("ScalingLimited"); has {
		t.Error("a condition that the status lacks")
	}
}

// A metric is in thousandths, rounded up, and there is none of what they cannot hold.
func TestMilli(t *testing.T) {
	for value, want := range map[float64]int64{0: 0, 1: 1000, 0.0001: 1, 2.0001: 2001, 1e15: 1e18} {
		if got, ok := hpa.Milli(value); got != want || !ok {
			t.Errorf("%v is %d thousandths, want %d", value, got, want)
		}
	}
	for _, value := range []float64{-1, math.NaN(), math.Inf(1), hpa.MaxValue, 1e17} {
		if got, ok := hpa.Milli(value); ok {
			t.Errorf("%v is %d thousandths", value, got)
		}
	}
}
