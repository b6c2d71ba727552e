package autoscaler_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

//go:embed testdata/live.yaml
var liveHPA string

// inputOf is what is known of the one autoscaler of a file, or of the one with a name.
func inputOf(text, name string) (explain.Input, error) {
	all, err := autoscaler.Read("x.yaml", []byte(text))
	if err != nil {
		return explain.Input{}, err
	}
	one, err := autoscaler.FindManifest(all, name)
	if err != nil {
		return explain.Input{}, err
	}
	return explain.FromAutoscaler(&one.Autoscaler)
}

// forecastsOf are the Forecasts that the computed metrics name.
func forecastsOf(s *explain.Input) (names []string) {
	for i := range s.Metrics {
		names = append(names, s.Metrics[i].Of.Forecast)
	}
	return names
}

func TestSituate(t *testing.T) {
	s, err := inputOf(liveHPA, "llama")
	if err != nil {
		t.Fatal(err)
	}
	first, third := int64(62_500), int64(7_000)
	behavior := &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	behavior.Down.Stabilization = 0
	cluster := hpa.DefaultCluster()
	cluster.ScaleToZero = true
	want := explain.Input{
		HPA: "inference/llama", Target: "Deployment/llama",
		Spec: hpa.Spec{
			Min: 0, Max: 20, Behavior: behavior, Cluster: cluster,
			Metrics: []hpa.Metric{
				{Name: "llama-inflight", Source: hpa.External, Type: hpa.AverageValue, Target: 64_000},
				{Name: "queue", Source: hpa.Object, Type: hpa.Value, Target: 30_000},
			},
		},
		Metrics: []explain.Metric{{InStatus: &first}, {InStatus: &third}},
		Uncomputed: []explain.UncomputedMetric{
			{Type: "Resource", Name: "cpu", Target: "80% of the request", Current: "75% of the request"},
			{Type: "Pods", Name: "load", Target: "500m a pod"},
			{Type: "ContainerResource", Name: "memory of server", Target: "8Gi a pod", Current: "6Gi a pod"},
		},
		Live: &hpa.Status{
			Desired: 4, Current: 3, LastScale: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
			Conditions: []hpa.Condition{
				{Type: "ScalingActive", Reason: "FailedGetExternalMetric", Message: "gone"},
			},
		},
	}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreFields(explain.Metric{}, "Of")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := forecastsOf(&s); !slices.Equal(got, []string{"llama-inflight", ""}) {
		t.Errorf("Forecasts %q", got)
	}
}

// An HPA without metrics has the CPU, as the API server fills in.
func TestSituateDefaults(t *testing.T) {
	text := "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n" + hpaHeader
	s, err := inputOf(text, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Uncomputed) != 1 || s.Uncomputed[0].Name != "cpu" || s.Live != nil || s.Spec.Min != 1 {
		t.Errorf("%+v", s)
	}
}

// Of a ScaledObject it is what KEDA's HPA has: a trigger that names no total says why it is not computed.
func TestSituateScaledObject(t *testing.T) {
	s, err := inputOf(`apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: llama}
spec:
  scaleTargetRef: {name: llama}
  minReplicaCount: 2
  maxReplicaCount: 7
  triggers:
    - {type: cron, metadata: {timezone: UTC}}
    - {type: external-push, metadata: {forecast: llama-inflight, target: "64"}}
    - {type: prometheus, name: load, metadata: {serverAddress: "http://p", query: x, threshold: "5"}}
`, "")
	if err != nil {
		t.Fatal(err)
	}
	if s.HPA != "default/llama" || s.Target != "Deployment/llama" || s.Spec.Min != 2 || s.Spec.Max != 7 {
		t.Errorf("%+v", s)
	}
	if len(s.Spec.Metrics) != 2 || s.Spec.Metrics[0].Target != 64_000 || s.Spec.Metrics[1].Target != 5_000 {
		t.Errorf("metrics: %+v", s.Spec.Metrics)
	}
	if got := forecastsOf(&s); !slices.Equal(got, []string{"llama-inflight", ""}) {
		t.Errorf("Forecasts %q", got)
	}
	if len(s.Uncomputed) != 1 || !strings.Contains(s.Uncomputed[0].Why, "cron") {
		t.Errorf("other: %+v", s.Uncomputed)
	}
}

func TestSituateProblems(t *testing.T) {
	for _, c := range casetest.Read[struct{ Name, Text, Want string }](t, "situate.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			_, err := inputOf(c.Text, "")
			if err == nil || !strings.Contains(err.Error(), c.Want) {
				t.Errorf("%v, want %q", err, c.Want)
			}
		})
	}
}

// FuzzSituateFile: whatever a file holds, there is an error or an HPA that can be explained, or whose spec says why not.
func FuzzSituateFile(f *testing.F) {
	f.Add(liveHPA)
	f.Add(strings.Replace(liveHPA, `"64"`, "1e18", 1))
	f.Add("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n" + external(of64, "  behavior: {}\n"))
	f.Add("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: x}\n" +
		"spec: {triggers: [{type: external, metadata: {forecast: x, target: 1}}]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := inputOf(text, "")
		if err != nil {
			return
		}
		if len(s.Metrics) != len(s.Spec.Metrics) {
			t.Fatalf("%d metrics, %d of the spec", len(s.Metrics), len(s.Spec.Metrics))
		}
		s.Scale = explain.Scale{Replicas: 3, Existing: 3, Pods: 3, Ready: 2}
		for i := range s.Metrics {
			s.Metrics[i].Reading.Values = []int64{17_000}
		}
		if e, err := explain.Explain(&s); err == nil && len(e.Sentences) == 0 {
			t.Error("nothing is said")
		}
	})
}
