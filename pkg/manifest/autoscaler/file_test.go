package autoscaler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	external := func(target string) string {
		return "{type: External, external: {metric: {name: queue}, target: " + target + "}}"
	}
	for _, c := range []struct{ about, text, name, metric, want string }{
		{"nothing", "", "", "", "hpa.yaml: no HorizontalPodAutoscaler (autoscaling/v2) and no ScaledObject (keda.sh/v1alpha1): " +
			"it is empty; kubectl get hpa NAME -o yaml prints one"},
		{
			"other kinds", "kind: Deployment\nmetadata: {name: llama}\n---\nkind: Service\n", "", "",
			"hpa.yaml: no HorizontalPodAutoscaler (autoscaling/v2) and no ScaledObject (keda.sh/v1alpha1): it holds " +
				"Deployment/llama, Service/?; kubectl get hpa NAME -o yaml prints one",
		},
		{"no YAML", "spec: [\n", "", "", "hpa.yaml:1: is not YAML: did not find expected node content"},
		{"no object", "- 1\n", "", "", "hpa.yaml:1: is not an object: write apiVersion, kind, metadata and spec"},
		{
			"version 1", strings.Replace(foreign, "/v2", "/v1", 1), "", "",
			"hpa.yaml:1: a HorizontalPodAutoscaler of autoscaling/v1 scales on the CPU alone: write apiVersion: autoscaling/v2 and " +
				"an External metric of the total demand",
		},
		{
			"version 2beta2", strings.Replace(foreign, "/v2", "/v2beta2", 1), "", "",
			`hpa.yaml:1: apiVersion "autoscaling/v2beta2" is not supported: write apiVersion: autoscaling/v2`,
		},
		{
			"KEDA of another version", "apiVersion: keda.sh/v2\nkind: ScaledObject\n", "", "",
			`hpa.yaml:1: apiVersion "keda.sh/v2" is not supported: write apiVersion: keda.sh/v1alpha1`,
		},
		{
			"a list", "apiVersion: v1\nkind: List\nitems: []\n", "", "",
			"hpa.yaml:1: kind List is not supported here: write a document for each, separated by ---",
		},
		{
			"no name and no spec", v2 + "\n", "", "",
			"hpa.yaml:1: metadata.name is missing: name the autoscaler\n" +
				"hpa.yaml:1: spec is missing: write scaleTargetRef and metrics",
		},
		{
			"a field that is none, and a number that is text", foreign + "  minReplica: 1\n  minReplicas: \"1\"\n", "", "",
			"hpa.yaml:10: spec.minReplica: unknown field, known are behavior, maxReplicas, metrics, minReplicas, scaleTargetRef\n" +
				`hpa.yaml:11: spec.minReplicas: "1" is not a whole number: write one, without quotes`,
		},
		{
			"a quantity of thirty million digits", scalingOn("[" + external(`{type: AverageValue, averageValue: "1e-30000000"}`) + "]"),
			"", "", `hpa.yaml:7: spec.metrics[0].external.target.averageValue: "1e-30000000" is not a quantity, write for ` +
				"example 64, 0.5 or 4k",
		},
		{
			"two autoscalers", foreign + "---\n" + keda + triggered(prometheus), "", "",
			"hpa.yaml: 2 autoscalers, name one: HorizontalPodAutoscaler/llama, ScaledObject/llama",
		},
		{
			"another name", foreign, "qwen", "", `hpa.yaml: no autoscaler "qwen", the file has HorizontalPodAutoscaler/llama`,
		},
		{
			"no metric", v2 + hpaHeader, "", "", "hpa.yaml:1: HorizontalPodAutoscaler/llama: has no metrics: write an External " +
				"metric of the total demand, type AverageValue",
		},
		{
			"two metrics", foreign + "  - " + strings.Replace(external(of64), "queue", "load", 1) + "\n", "", "",
			"hpa.yaml:1: HorizontalPodAutoscaler/llama: has 2 metrics that can be simulated, name one: load, queue",
		},
		{
			"another metric", foreign, "", "load",
			`hpa.yaml:1: HorizontalPodAutoscaler/llama: no metric "load", its metrics are queue`,
		},
		{
			"a Value target", scalingOn("[" + external("{type: Value, value: 64}") + "]"), "", "",
			"hpa.yaml:1: HorizontalPodAutoscaler/llama: External metric queue: its target of type Value multiplies the total " +
				"demand by the ready pods: write type: AverageValue",
		},
		{
			"the CPU", scalingOn("[{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]"),
			"", "", "hpa.yaml:1: HorizontalPodAutoscaler/llama: Resource metric cpu: the usage of the pods is not the demand, and " +
				"saturates: write an External metric of the total demand, type AverageValue",
		},
		{
			"a mean over the pods", scalingOn("[{type: Pods, pods: {metric: {name: load}, target: " + of64 + "}}]"), "", "load",
			"hpa.yaml:1: HorizontalPodAutoscaler/llama: Pods metric load: a mean over the pods depends on their number: " +
				"write an External metric of the total demand, type AverageValue and the same averageValue",
		},
		{
			"no maximum", strings.Replace(foreign, "  maxReplicas: 20\n", "", 1), "", "",
			"hpa.yaml:1: HorizontalPodAutoscaler/llama: External metric queue: maxReplicas 0: want at least 1 and at least " +
				"minReplicas 1",
		},
		{
			"a threshold without quotes", keda + triggered(strings.Replace(prometheus, `"64"`, "64", 1)), "", "",
			`hpa.yaml:6: spec.triggers[0].metadata.threshold: is not text: put it in quotes, "64"`,
		},
		{
			"no threshold", keda + triggered(strings.Replace(prometheus, `threshold: "64"`, "", 1)), "", "",
			`hpa.yaml:1: ScaledObject/llama: prometheus trigger load: its threshold "" is not from 0.001 to 9.22e+15: write what ` +
				"one replica sustains",
		},
		{
			"a trigger by the clock", keda + triggered(`{type: cron, metadata: {start: "1"}}`), "", "",
			`hpa.yaml:1: ScaledObject/llama: cron trigger s0-cron: a trigger of type "cron" is not supported: ` +
				"write one of type prometheus, whose threshold is what one replica sustains",
		},
		{
			"modifiers", keda + triggered(prometheus, "  advanced: {scalingModifiers: {formula: load * 2, target: \"1\"}}\n"), "", "",
			"hpa.yaml:1: ScaledObject/llama: prometheus trigger load: its scalingModifiers compute another value from its triggers: remove the formula",
		},
		{
			"an unknown field of KEDA's", keda + triggered(prometheus, "  maxReplicas: 3\n"), "", "",
			"hpa.yaml:6: spec.maxReplicas: unknown field, known are advanced, cooldownPeriod, fallback, idleReplicaCount, " +
				"initialCooldownPeriod, maxReplicaCount, minReplicaCount, pollingInterval, scaleTargetRef, triggers",
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			got, err := played(c.text, c.name, c.metric)
			if err == nil {
				t.Fatalf("no error, but %+v", got)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
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
