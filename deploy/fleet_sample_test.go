package deploy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	"github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// TestTheFleetFits: the fleet is sound, its members are Forecasts of other samples, and the ScaledJob is its consumer: the scaler answers
// its trigger, and its pods are those that the fleet counts, with as many GPUs, in time and with a lower priority.
func TestTheFleetFits(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("samples", fleetSample))
	if err != nil {
		t.Fatal(err)
	}
	fleets, err := manifest.ReadFleets(fleetSample, text)
	if err != nil {
		t.Fatal(err)
	}
	f, known := fleets[0], map[string]bool{}
	for _, name := range bySignal() {
		forecast, _ := read(t, name)
		known[forecast.Name] = true
	}
	for _, m := range f.Members {
		if !known[m.Forecast] {
			t.Errorf("no sample is the Forecast %s", m.Forecast)
		}
	}
	var class schedulingv1.PriorityClass
	var jobs struct {
		Spec struct {
			ScalingStrategy struct{ Strategy string }
			Triggers        []struct{ Metadata map[string]string }
			JobTargetRef    batchv1.JobSpec
		}
	}
	documents := bytes.Split(text, []byte("\n---\n"))
	if len(documents) != 3 {
		t.Fatalf("%d documents, want a fleet, a PriorityClass and a ScaledJob", len(documents))
	}
	for i, into := range []any{&class, &jobs} {
		if err := yaml.Unmarshal(documents[i+1], into); err != nil {
			t.Fatal(err)
		}
	}
	consumer, job := f.Batch[0], &jobs.Spec.JobTargetRef
	pod := &job.Template.Spec
	gpus := pod.Containers[0].Resources.Limits[f.Resource]
	switch deadline := job.ActiveDeadlineSeconds; {
	case len(jobs.Spec.Triggers) != 1 || jobs.Spec.ScalingStrategy.Strategy != "default":
		t.Errorf("%+v would start jobs while no GPU is spare", jobs.Spec)
	case !consumer.Selector.Matches(labels.Set(job.Template.Labels)):
		t.Errorf("%s does not select pods with %v", consumer.Selector, job.Template.Labels)
	case gpus.AsApproximateFloat64() != consumer.GPUs:
		t.Errorf("a pod has %s GPUs, a replica has %g", gpus.String(), consumer.GPUs)
	case deadline == nil || time.Duration(*deadline)*time.Second != consumer.Run:
		t.Errorf("a job ends after %v s, a run after %s", deadline, consumer.Run)
	case pod.PriorityClassName != class.Name || class.Value >= 0:
		t.Errorf("pods of %q, and the PriorityClass %s of %d", pod.PriorityClassName, class.Name, class.Value)
	}
	expectSpare(t, f, jobs.Spec.Triggers[0].Metadata)
}

// expectSpare asks the scaler what a trigger asks, of a fleet.
func expectSpare(t *testing.T, f manifest.ResolvedFleet, trigger map[string]string) {
	t.Helper()
	now, store := time.Now(), &fleet.Store{}
	key := snapshot.Key{Namespace: f.Object.Namespace, Name: f.Object.Name}
	spare := []fleet.Spare{{Consumer: f.Batch[0].Consumer, Replicas: 12}}
	store.Set(map[snapshot.Key]*fleet.State{key: {Key: key, Plan: fleet.Plan{At: now, Batch: spare}}})
	scaler := keda.New(&snapshot.Store{}, store, func() time.Time { return now })
	answer, err := scaler.GetMetrics(t.Context(), &externalscaler.GetMetricsRequest{
		MetricName: key.Name + fleet.MetricSuffix,
		ScaledObjectRef: &externalscaler.ScaledObjectRef{
			Name: "embeddings", Namespace: key.Namespace, ScalerMetadata: trigger,
		},
	})
	if err != nil || answer.GetMetricValues()[0].GetMetricValueFloat() != 12 {
		t.Errorf("the trigger gets %v (%v), want 12", answer, err)
	}
}
