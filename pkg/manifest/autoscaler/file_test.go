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
	// otherKind has a metric that names no Forecast, with a selector of its own.
	other = v2 + hpaHeader + `  metrics:
  - type: External
    external: {metric: {name: queue, selector: {matchLabels: {queue: jobs}}}, target: {type: AverageValue, averageValue: 64}}
`
	prometheus = `{type: prometheus, name: load, metadata: {serverAddress: "http://p:9090", query: sum(x), threshold: "64"}}`
)

// played is how the one metric that a text means is simulated.
func played(text, name, metric string) (hpa.Spec, error) {
	all, err := autoscaler.Read("hpa.yaml", []byte(text))
	if err != nil {
		return hpa.Spec{}, err
	}
	one, err := autoscaler.FindManifest(all, name)
	if err != nil {
		return hpa.Spec{}, err
	}
	m, err := one.SelectMetric(metric, 0)
	if err != nil {
		return hpa.Spec{}, err
	}
	return one.SpecOf(m), nil
}

func TestRead(t *testing.T) {
	for _, c := range casetest.Read[struct {
		About, Text, Name, Metric string
		// Played is the metric's name.
		Played string
		Source hpa.MetricType
		Max    int32
	}](t, "played.yaml") {
		t.Run(c.About, func(t *testing.T) {
			got, err := played(c.Text, c.Name, c.Metric)
			if err != nil {
				t.Fatal(err)
			}
			want := changed(
				func(s *hpa.Spec) { s.Metrics[0].Name, s.Metrics[0].Source, s.Max = c.Played, c.Source, c.Max },
			)
			if diff := cmp.Diff(want, got); diff != "" {
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

// A share of the CPU is that share of what a replica sustains, if that is known; the error names the line of the metric.
func TestUtilizationOfACapacity(t *testing.T) {
	const text = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics:
  - {type: ContainerResource, containerResource: {name: cpu, container: a, target: {type: Utilization, averageUtilization: 50}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}
`
	all, err := autoscaler.Read("hpa.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := all[0].SelectMetric("", 300)
	if err != nil || m.Target != 180_000 || m.Type != hpa.AverageValue || m.Source != hpa.External {
		t.Errorf("%+v, %v", m, err)
	}
	if all[0].Metrics[1].Source != "" {
		t.Error("the manifest's own metric is changed")
	}
	_, err = all[0].SelectMetric("", 0)
	if err == nil || !strings.HasPrefix(err.Error(), "hpa.yaml:8: ") ||
		!strings.Contains(err.Error(), "add --replica-capacity") {
		t.Error(err)
	}
}

// Whatever stands in a file, what can be played is an hpa.Spec that the API server would let pass.
func FuzzRead(f *testing.F) {
	f.Add([]byte(other))
	f.Add([]byte(keda + triggered(prometheus)))
	f.Add([]byte(keda + triggered(asking(`target: "1e-30000000"`))))
	f.Add([]byte(v2 + "\nspec: &a {metrics: [*a]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := autoscaler.Read("f.yaml", data)
		if (err == nil) != (len(all) > 0) {
			t.Fatalf("%d autoscalers and %v", len(all), err)
		}
		for i := range all {
			for j := range all[i].Metrics {
				m, err := all[i].SelectMetric(all[i].Metrics[j].Name, 0)
				if err != nil {
					continue
				}
				if spec := all[i].SpecOf(m); spec.Validate() != nil {
					t.Fatalf("%+v: %v", m, spec.Validate())
				}
			}
		}
	})
}
