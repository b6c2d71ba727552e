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
		refused     bool
	}{
		`{type: prometheus, metadata: {serverAddress: a, query: x, threshold: "2.5"}}`: {milli: 2500},
		`{type: prometheus, metadata: {serverAddress: a, threshold: "2.5"}}`:           {milli: 2500, refused: true},
		`{type: aws-cloudwatch, metadata: {targetMetricValue: "8"}}`:                   {milli: 8000},
		`{type: datadog, metadata: {queryValue: "7"}}`:                                 {milli: 7000},
		`{type: datadog, metadata: {targetValue: "6"}}`:                                {milli: 6000},
		`{type: gcp-stackdriver, metadata: {targetValue: "5"}}`:                        {milli: 5000},
		`{type: influxdb, metadata: {thresholdValue: "4"}}`:                            {milli: 4000},
		`{type: rabbitmq, metadata: {mode: QueueLength, value: "20"}}`:                 {}, // A backlog depends on the replicas.
		`{type: cpu, metricType: Utilization, metadata: {value: "60"}}`:                {utilization: 60},
		`{type: memory, metricType: AverageValue, metadata: {value: "60"}}`:            {},
		`{type: cpu, metricType: Utilization, metadata: {value: "-1"}}`:                {},
		`{type: cpu, metricType: Utilization, metadata: {value: "6e1"}}`:               {},
		`{type: prometheus, metricType: Utilization, metadata: {value: "60"}}`:         {},
		`{type: prometheus, metadata: {threshold: "NaN"}}`:                             {},
		`{type: aws-cloudwatch, metadata: {threshold: "8", targetMetricValue: "0"}}`:   {},
	} {
		read, err := autoscaler.FromScaledObject(readScaledObject(t, triggered(trigger)))
		if err != nil {
			t.Errorf("%s: %v", trigger, err)
			continue
		}
		m := read.Metrics[0]
		if m.Target != want.milli || m.Utilization != want.utilization ||
			(m.Refused == "") != (want.milli > 0 && !want.refused) {
			t.Errorf("%s: target %d, utilization %d, refused %q", trigger, m.Target, m.Utilization, m.Refused)
		}
	}
}

// TestKEDAsWords: annotations, names and rejections are KEDA's.
func TestKEDAsWords(t *testing.T) {
	read := func(annotations, rest string) *hpa.Autoscaler {
		t.Helper()
		a, err := autoscaler.FromScaledObject(
			readScaledObject(t, "metadata: {name: llama, namespace: a, annotations: {"+annotations+"}}\n"+
				"spec: {scaleTargetRef: {name: llama}, "+rest+"}\n"),
		)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const load = `{type: prometheus, name: load, metadata: {serverAddress: a, query: x, threshold: "5"}}`
	for annotation, want := range map[string]struct {
		paused  string
		at      int32
		up, dow bool
	}{
		`autoscaling.keda.sh/paused: "true"`:             {paused: `autoscaling.keda.sh/paused: "true"`, at: -1},
		`autoscaling.keda.sh/paused: "yes"`:              {paused: `autoscaling.keda.sh/paused: "yes"`, at: -1},
		`autoscaling.keda.sh/paused: "false"`:            {at: -1},
		`autoscaling.keda.sh/paused-replicas: "7"`:       {paused: `autoscaling.keda.sh/paused-replicas: "7"`, at: 7},
		`autoscaling.keda.sh/paused-scale-in: "true"`:    {at: -1, dow: true},
		`autoscaling.keda.sh/paused-scale-out: "please"`: {at: -1, up: true},
		`autoscaling.keda.sh/paused-scale-out: "0"`:      {at: -1},
	} {
		a := read(annotation, "triggers: ["+load+"]")
		at := int32(-1)
		if a.PausedAt != nil {
			at = *a.PausedAt
		}
		up := a.Behavior != nil && a.Behavior.Up.Select == hpa.SelectDisabled
		down := a.Behavior != nil && a.Behavior.Down.Select == hpa.SelectDisabled
		if a.Paused != want.paused || at != want.at || up != want.up || down != want.dow {
			t.Errorf("%s: paused %q at %d, up disabled %v, down disabled %v", annotation, a.Paused, at, up, down)
		}
	}
	for trigger, want := range map[string]string{
		load: "s0-prometheus",
		`{type: metrics-api, metadata: {valueLocation: "a.b", targetValue: "1"}}`:                     "s0-metric-api-a-b",
		`{type: influxdb, metadata: {organizationName: org, thresholdValue: "1"}}`:                    "s0-influxdb-org",
		`{type: azure-monitor, metadata: {metricName: "m/n", targetValue: "1"}}`:                      "s0-azure-monitor-m-n",
		`{type: kafka, metadata: {topic: t, consumerGroup: g}}`:                                       "s0-kafka-t",
		`{type: kafka, metadata: {consumerGroup: g}}`:                                                 "s0-kafka-g-topics",
		`{type: cron, metadata: {timezone: Europe/Berlin, start: "0 8 * * *", end: "0 20 * * *"}}`:    "s0-cron-Europe-Berlin-08xxx-020xxx",
		`{type: cpu, metricType: Utilization, metadata: {value: "60"}}`:                               "cpu",
		`{type: external, name: mine, metadata: {scalerAddress: "x:9", forecast: a.b, target: "64"}}`: "s0-a-b",
	} {
		if got := read("", "triggers: ["+trigger+"]").Metrics[0].Name; got != want {
			t.Errorf("%s is %s, want %s", trigger, got, want)
		}
	}
	twice := read("", "triggers: ["+load+", "+load+"]")
	idle := read("", "minReplicaCount: 3, idleReplicaCount: 0, triggers: ["+load+"]")
	formula := read(
		"",
		"advanced: {scalingModifiers: {formula: a}}, triggers: [{type: cpu, metricType: Utilization, metadata: {value: '60'}}]",
	)
	if !strings.Contains(twice.Metrics[0].Refused, "two triggers have the name") || idle.Idle != 0 || idle.Min != 3 ||
		formula.Metrics[0].Utilization != 60 {
		t.Errorf("%+v, %+v, %+v", twice.Metrics[0], idle, formula.Metrics[0])
	}
}
