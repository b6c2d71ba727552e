package autoscaler_test

import (
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
	m, err := one.SelectMetric(metric)
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
			for j := range all[i].Metrics {
				m, err := all[i].SelectMetric(all[i].Metrics[j].Name)
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
