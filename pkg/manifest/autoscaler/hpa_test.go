package autoscaler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

const hpaHeader = `
metadata: {name: llama, namespace: inference}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
`

// external is an HPA with one External metric on llama-inflight, and further fields of its spec.
func external(target string, further ...string) string {
	return hpaHeader + strings.Join(further, "") +
		"  metrics: [{type: External, external: {metric: {name: llama-inflight}, target: " + target + "}}]\n"
}

const of64 = `{type: AverageValue, averageValue: "64"}`

func readHPA(t *testing.T, text string) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	object := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// fromHPA are the references of an HPA to Forecasts.
func fromHPA(h *autoscalingv2.HorizontalPodAutoscaler) []manifest.Reference {
	return autoscaler.References(autoscaler.FromHPA(h))
}

var (
	inflight = snapshot.Key{Namespace: "inference", Name: "llama-inflight"}
	llama    = leadtime.Workload{Namespace: "inference", APIVersion: "apps/v1", Kind: "Deployment", Name: "llama"}
)

// plain is what the HPA of external(of64) does: nothing but defaults.
func plain() hpa.Spec {
	return hpa.Spec{
		Min: 1, Max: 20, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{Name: "llama-inflight", Source: hpa.External, Type: hpa.AverageValue, Target: 64_000}},
	}
}

// changed is plain with a change.
func changed(change func(*hpa.Spec)) hpa.Spec {
	s := plain()
	change(&s)
	return s
}

func TestFromHPA(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		name, text string
		want       hpa.Spec
	}{
		{"defaults", external(of64), plain()},
		{
			"a least of zero is of a controller that scales to zero", external(of64, "  minReplicas: 0\n"),
			changed(func(s *hpa.Spec) { s.Min, s.Cluster.ScaleToZero = 0, true }),
		},
		{
			"a target between thousandths rounds up, as the controller does",
			external(`{type: AverageValue, averageValue: 1500u}`),
			changed(func(s *hpa.Spec) { s.Metrics[0].Target = 2 }),
		},
		{
			"any behavior fills all of it", external(of64, "  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}\n"),
			changed(func(s *hpa.Spec) {
				s.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
				s.Behavior.Down.Stabilization = 0
			}),
		},
		{
			"an empty behavior is one", external(of64, "  behavior: {}\n"),
			changed(func(s *hpa.Spec) {
				s.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
			}),
		},
		{
			"every field of a behavior", external(of64, `  behavior:
    scaleUp: {stabilizationWindowSeconds: 30, selectPolicy: Min, tolerance: 500m}
    scaleDown:
      selectPolicy: Disabled
      tolerance: "0"
      policies: [{type: Pods, value: 3, periodSeconds: 60}]
`),
			changed(func(s *hpa.Spec) {
				s.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.Rules{
					Stabilization: -1, Select: hpa.SelectDisabled, Tolerance: new(float64),
					Policies: []hpa.ScalingPolicy{{Type: hpa.Pods, Value: 3, Period: time.Minute}},
				}}
				s.Behavior.Up.Stabilization, s.Behavior.Up.Select = 30*time.Second, hpa.SelectMin
				s.Behavior.Up.Tolerance = &half
			}),
		},
		{
			"an Object metric of a Forecast, in any version of its API", hpaHeader + `  metrics:
    - type: Object
      object:
        describedObject: {apiVersion: forewarm.dev/v2, kind: Forecast, name: llama-inflight}
        metric: {name: demand}
        target: {type: AverageValue, averageValue: 64}
`, changed(func(s *hpa.Spec) { s.Metrics[0].Source = hpa.Object }),
		},
		{
			"another objective or mode is of the same workload",
			selecting(`{matchLabels: {late: "0.05", serve: shadow}}`), plain(),
		},
	} {
		got := fromHPA(readHPA(t, c.text))
		want := []manifest.Reference{
			{Forecast: inflight, Autoscaler: "HorizontalPodAutoscaler/llama", Workload: llama, Spec: c.want},
		}
		want[0].ScalesToZero = c.want.Min == 0
		if c.want.Metrics[0].Source == hpa.External {
			want[0].Alias = snapshot.Key{Namespace: "inference", Name: "llama-inflight{}"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if err := c.want.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// One that asks for a model is calibrated for that model.
func TestModelsThatAutoscalersAskFor(t *testing.T) {
	hpas := fromHPA(readHPA(t, selecting("{matchLabels: {model: HoltWinters}}")))
	if len(hpas) != 1 || hpas[0].Candidate != "holt-winters" || hpas[0].Refused != "" {
		t.Fatalf("%+v", hpas)
	}
	choice := manifest.ChooseAutoscalers(append(hpas, fromHPA(readHPA(t, external(of64)))...), llama, 0)
	var got []string
	for _, s := range choice.Autoscalers {
		got = append(got, s.Candidate)
	}
	if diff := cmp.Diff([]string{"holt-winters"}, got); diff != "" {
		t.Errorf("of two metrics of one HPA (-want +got):\n%s", diff)
	}
	other := fromHPA(readHPA(t, external(of64)))
	other[0].Autoscaler = "HorizontalPodAutoscaler/other"
	choice = manifest.ChooseAutoscalers(append(hpas, other...), llama, 0)
	want := []string{
		"HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas, with the forecast of model holt-winters",
		"HorizontalPodAutoscaler/other: 64 a replica, 1 to 20 replicas",
	}
	if diff := cmp.Diff(want, choice.Used); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// selecting is an HPA whose External metric has a selector.
func selecting(selector string) string {
	return strings.Replace(external(of64), "{name: llama-inflight}", "{name: llama-inflight, selector: "+selector+"}",
		1)
}

func TestRefusedHPAs(t *testing.T) {
	for _, c := range casetest.Read[struct{ Name, Text, Want string }](t, "hpas.yaml") {
		got := fromHPA(readHPA(t, c.Text))
		if len(got) != 1 || got[0].Forecast != inflight || !strings.Contains(got[0].Refused, c.Want) {
			t.Errorf("%s: %+v, want %q", c.Name, got, c.Want)
		}
	}
}

// What is refused reads the value all the same: the model that it names is known.
func TestRefusedMetricsNameTheirModel(t *testing.T) {
	of := fromHPA(readHPA(t, selecting(`{matchLabels: {model: SES, horizon: 10m}}`)))
	of = append(of, fromHPA(readHPA(t, selecting(`{matchLabels: {model: ses, quantile: "0.5"}}`)))...)
	of = append(of, fromScaledObject(readScaledObject(t, triggered(
		"{type: external, metricType: Value, metadata: {forecast: llama-inflight, model: ses}}")))...)
	for _, r := range of {
		if r.Refused == "" || r.Candidate != "ses" {
			t.Errorf("%+v: want it refused, and its model", r)
		}
	}
}

func TestMetricsThatNameNoForecast(t *testing.T) {
	for _, c := range casetest.Read[struct{ Name, Text string }](t, "hpas-of-others.yaml") {
		if got := fromHPA(readHPA(t, c.Text)); len(got) > 0 {
			t.Errorf("%s: %+v", c.Name, got)
		}
	}
}

// TestQuantitiesOfAnySize: an int64 of thousandths must hold what is not refused.
func TestQuantitiesOfAnySize(t *testing.T) {
	for _, text := range []string{
		"1n", "1u", "999m", "9223372036854775", "9223372036854775807", "92233720368547758080", "9E", "-9E", "1e-9", "1e18",
	} {
		object := readHPA(t, external(of64))
		quantity := resource.MustParse(text)
		object.Spec.Metrics[0].External.Target.AverageValue = &quantity
		got := fromHPA(object)[0]
		if got.Refused == "" && (got.Spec.Validate() != nil || got.Spec.Metrics[0].Target < 1) {
			t.Errorf("%s: %+v", text, got.Spec)
		}
	}
}

// TestReferencesHoldNothing: a status that changes must leave the references as they were.
func TestReferencesHoldNothing(t *testing.T) {
	const behavior = "  behavior: {scaleUp: {tolerance: 500m, policies: [{type: Pods, value: 3, periodSeconds: 60}]}}\n"
	object := readHPA(t, external(of64, behavior))
	before, again := fromHPA(object), fromHPA(object)
	object.Status.DesiredReplicas, object.ResourceVersion = 7, "8"
	*object.Spec.Behavior.ScaleUp.Tolerance = resource.MustParse("1")
	object.Spec.Behavior.ScaleUp.Policies[0].Value = 1
	if diff := cmp.Diff(again, before); diff != "" {
		t.Error(diff)
	}
}

// An HPA that may scale to zero and reads no metrics is disabled at zero; one with a minimum of 1 was switched off by its user.
func TestDisabledAtZero(t *testing.T) {
	for _, c := range []struct {
		min    int32
		status *hpa.Status
		want   bool
	}{
		{0, &hpa.Status{Conditions: []hpa.Condition{{Type: hpa.ScalingActive, Reason: "ScalingDisabled"}}}, true},
		{0, &hpa.Status{Conditions: []hpa.Condition{{Type: hpa.ScalingActive, True: true, Reason: "ValidMetricFound"}}}, false},
		{0, &hpa.Status{Conditions: []hpa.Condition{{Type: hpa.ScalingActive, Reason: "FailedGetExternalMetric"}}}, false},
		{0, nil, false},
		{1, &hpa.Status{Conditions: []hpa.Condition{{Type: hpa.ScalingActive, Reason: "ScalingDisabled"}}}, false},
	} {
		read := autoscaler.FromHPA(readHPA(t, external(of64)))
		read.Min, read.Status = c.min, c.status
		got := autoscaler.References(read)
		if len(got) != 1 || got[0].DisabledAtZero != c.want {
			t.Errorf("minimum %d, %+v: %+v", c.min, c.status, got)
		}
	}
}
