package autoscaler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

func readScaledObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// fromScaledObject are the references of a ScaledObject to Forecasts; none where it cannot be read.
func fromScaledObject(object *unstructured.Unstructured) []manifest.Reference {
	read, err := autoscaler.FromScaledObject(object)
	if err != nil {
		return nil
	}
	return autoscaler.References(read)
}

// triggered is a ScaledObject with one trigger and further fields of its spec.
func triggered(trigger string, further ...string) string {
	return "metadata: {name: llama, namespace: inference}\nspec:\n  scaleTargetRef: {name: llama}\n" +
		strings.Join(further, "") + "  triggers: [" + trigger + "]\n"
}

const push64 = `{type: external-push, metadata: {scalerAddress: "x:9", forecast: llama-inflight, target: "64"}}`

// asking is a trigger with another metadata.
func asking(more string) string {
	return `{type: external, metadata: {scalerAddress: "x:9", forecast: llama-inflight, ` + more + `}}`
}

func TestFromScaledObject(t *testing.T) {
	defaults := changed(func(s *hpa.Spec) { s.Max = 100 })
	for _, c := range []struct {
		name, text string
		want       hpa.Spec
	}{
		{"defaults", triggered(push64), defaults},
		{
			"from zero: the HPA that KEDA makes begins at one",
			triggered(push64, "  minReplicaCount: 0\n  idleReplicaCount: 0\n  maxReplicaCount: 20\n"), plain(),
		},
		{
			"a least of three, none while idle",
			triggered(push64, "  minReplicaCount: 3\n  idleReplicaCount: 0\n  maxReplicaCount: 20\n"),
			changed(func(s *hpa.Spec) { s.Min = 3 }),
		},
		{
			"its behavior is that of the HPA that KEDA makes", triggered(push64, `  advanced:
    horizontalPodAutoscalerConfig:
      behavior: {scaleDown: {stabilizationWindowSeconds: 0, tolerance: "0.05"}}
`),
			changed(func(s *hpa.Spec) {
				s.Max = 100
				tolerance := 0.05
				s.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
				s.Behavior.Down.Stabilization, s.Behavior.Down.Tolerance = 0, &tolerance
			}),
		},
		{
			"no target: the Forecast's", triggered(asking(`late: "0.02", activation: "1"`)),
			changed(func(s *hpa.Spec) { s.Max, s.Metrics[0].Target = 100, 0 }),
		},
		{
			"a target rounds to thousandths, as the scaler does", triggered(asking(`target: "0.0015"`)),
			changed(func(s *hpa.Spec) { s.Max, s.Metrics[0].Target = 100, 2 }),
		},
	} {
		got := fromScaledObject(readScaledObject(t, c.text))
		want := []manifest.Reference{
			{Forecast: inflight, Autoscaler: "ScaledObject/llama", Workload: llama, Spec: c.want},
		}
		want[0].ScalesToZero = c.want.Min == 1 // KEDA's default is none.
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestRefusedScaledObjects(t *testing.T) {
	for _, c := range casetest.Read[struct{ Name, Text, Want string }](t, "scaledobjects.yaml") {
		got := fromScaledObject(readScaledObject(t, c.Text))
		if len(got) != 1 || got[0].Forecast != inflight || !strings.Contains(got[0].Refused, c.Want) {
			t.Errorf("%s: %+v, want %q", c.Name, got, c.Want)
		}
	}
}

// TestScaledObjectsThatNameNoForecast: those of other scalers, and what KEDA itself could not read.
func TestScaledObjectsThatNameNoForecast(t *testing.T) {
	for _, c := range casetest.Read[struct{ Name, Text string }](t, "scaledobjects-of-others.yaml") {
		begun := time.Now()
		if got := fromScaledObject(readScaledObject(t, c.Text)); len(got) > 0 {
			t.Errorf("%s: %+v", c.Name, got)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("%s took %s", c.Name, took)
		}
	}
}

// TestTargetsOfTriggers reads what a replica sustains from the key of each type of trigger.
func TestTargetsOfTriggers(t *testing.T) {
	for trigger, want := range map[string]struct {
		milli       int64
		utilization int32
	}{
		`{type: prometheus, metadata: {threshold: "2.5"}}`:                           {milli: 2500},
		`{type: aws-cloudwatch, metadata: {targetMetricValue: "8"}}`:                 {milli: 8000},
		`{type: datadog, metadata: {queryValue: "7"}}`:                               {milli: 7000},
		`{type: datadog, metadata: {targetValue: "6"}}`:                              {milli: 6000},
		`{type: gcp-stackdriver, metadata: {targetValue: "5"}}`:                      {milli: 5000},
		`{type: influxdb, metadata: {thresholdValue: "4"}}`:                          {milli: 4000},
		`{type: rabbitmq, metadata: {mode: QueueLength, value: "20"}}`:               {}, // A backlog depends on the replicas.
		`{type: cpu, metricType: Utilization, metadata: {value: "60"}}`:              {utilization: 60},
		`{type: memory, metricType: AverageValue, metadata: {value: "60"}}`:          {},
		`{type: cpu, metricType: Utilization, metadata: {value: "-1"}}`:              {},
		`{type: cpu, metricType: Utilization, metadata: {value: "6e1"}}`:             {},
		`{type: prometheus, metricType: Utilization, metadata: {value: "60"}}`:       {},
		`{type: prometheus, metadata: {threshold: "NaN"}}`:                           {},
		`{type: aws-cloudwatch, metadata: {threshold: "8", targetMetricValue: "0"}}`: {},
	} {
		read, err := autoscaler.FromScaledObject(readScaledObject(t, triggered(trigger)))
		if err != nil {
			t.Errorf("%s: %v", trigger, err)
			continue
		}
		m := read.Metrics[0]
		if m.Target != want.milli || m.Utilization != want.utilization || (m.Refused == "") != (want.milli > 0) {
			t.Errorf("%s: target %d, utilization %d, refused %q", trigger, m.Target, m.Utilization, m.Refused)
		}
	}
}
