package autoscaler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

const (
	v2   = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler"
	keda = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\n"
	// foreign has a metric that names no Forecast, with a selector of its own.
	foreign = v2 + hpaHeader + `  metrics:
  - type: External
    external: {metric: {name: queue, selector: {matchLabels: {queue: jobs}}}, target: {type: AverageValue, averageValue: 64}}
`
	prometheus = `{type: prometheus, name: load, metadata: {serverAddress: "http://p:9090", query: sum(x), threshold: "64"}}`
)

// target is a HorizontalPodAutoscaler with metrics of a list.
func scalingOn(metrics string) string { return v2 + hpaHeader + "  metrics: " + metrics + "\n" }

// played is the one metric that a text means.
func played(text, name, metric string) (*autoscaler.Metric, error) {
	all, err := autoscaler.Read("hpa.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	one, err := autoscaler.FindManifest(all, name)
	if err != nil {
		return nil, err
	}
	return one.SelectMetric(metric)
}

func TestRead(t *testing.T) {
	named := func(name string, source hpa.MetricType) hpa.Spec {
		return changed(func(s *hpa.Spec) { s.Metrics[0].Name, s.Metrics[0].Source = name, source })
	}
	object := `{type: Object, object: {describedObject: {kind: Service, name: llama}, metric: {name: load},
    target: {type: AverageValue, averageValue: "64"}}}`
	cpu := `{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}`
	for _, c := range []struct {
		about, text, name, metric string
		want                      hpa.Spec
	}{
		{"a metric that names no Forecast", foreign, "", "", named("queue", hpa.External)},
		{"an Object metric", scalingOn("[" + object + "]"), "", "", named("load", hpa.Object)},
		{"the CPU beside it is not played", scalingOn("[" + cpu + ", " + object + "]"), "", "", named("load", hpa.Object)},
		{"one of two, by its name", foreign + "  - " + object + "\n", "", "load", named("load", hpa.Object)},
		{
			"one of two documents, by its name, among others",
			"kind: Deployment\napiVersion: apps/v1\nspec: {x: 1}\n---\n" + foreign + "---\n" +
				strings.Replace(foreign, "{name: llama", "{name: qwen", 1),
			"qwen", "", named("queue", hpa.External),
		},
		{"by its kind and name", foreign, "HorizontalPodAutoscaler/llama", "", named("queue", hpa.External)},
		{
			"a trigger of Prometheus, and what KEDA fills in", keda + triggered(prometheus), "", "",
			changed(func(s *hpa.Spec) { s.Metrics[0].Name, s.Max = "load", 100 }),
		},
		{
			"a trigger that names a Forecast", keda + triggered(push64, "  idleReplicaCount: 0\n  minReplicaCount: 1\n  pollingInterval: 30\n"), "", "",
			changed(func(s *hpa.Spec) { s.Metrics[0].Name, s.Max = "s0-external-push", 100 }),
		},
		{
			"as the API server prints it",
			strings.Replace(foreign, "{name: llama", "{creationTimestamp: null, managedFields: [{fieldsV1: {f:x: {}}}], name: llama", 1) +
				"status: {currentReplicas: 3, currentMetrics: []}\n",
			"", "", named("queue", hpa.External),
		},
		{
			"JSON", `{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "llama"}, "spec": {
  "maxReplicas": 20, "scaleTargetRef": {"kind": "Deployment", "name": "llama"}, "metrics": [{"type": "External", "external": {
  "metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "64"}}}]}}`, "", "",
			named("queue", hpa.External),
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			got, err := played(c.text, c.name, c.metric)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Spec); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadProblems(t *testing.T) {
	for _, c := range casetest.Read[struct{ About, Text, Name, Metric, Want string }](t, "read.yaml") {
		t.Run(c.About, func(t *testing.T) {
			got, err := played(c.Text, c.Name, c.Metric)
			if err == nil {
				t.Fatalf("no error, but %+v", got)
			}
			if diff := cmp.Diff(c.Want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever stands in a file, what can be played is an hpa.Spec that the API server would let pass.
func FuzzRead(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add([]byte(keda + triggered(prometheus)))
	f.Add([]byte(keda + triggered(asking(`target: "1e-30000000"`))))
	f.Add([]byte(v2 + "\nspec: &a {metrics: [*a]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := autoscaler.Read("f.yaml", data)
		if (err == nil) != (len(all) > 0) {
			t.Fatalf("%d autoscalers and %v", len(all), err)
		}
		for i := range all {
			for _, m := range all[i].Metrics {
				if m.Refused == "" && m.Spec.Validate() != nil {
					t.Fatalf("%+v: %v", m, m.Spec.Validate())
				}
			}
		}
	})
}
