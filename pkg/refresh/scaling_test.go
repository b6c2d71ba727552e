package refresh_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// hpaWithMax is an HPA of a target of 10 and so many replicas at most.
func hpaWithMax(most int32) []decide.Autoscaler {
	return []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: hpa.Spec{
		Min: 1, Max: most, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
	}}}
}

// An HPA that is edited, or written again as it was, in an object that did not change.
func TestAnotherAutoscalerIsAnotherState(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	jobs[0].Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Lead: 5 * time.Minute, Target: 10}
	jobs[0].Autoscalers = hpaWithMax(20)
	loop, _ := newLoop(t, source, jobs)
	before := loop.Step(t.Context(), noon).Loop.Refits
	jobs[0].Autoscalers = hpaWithMax(20)
	if got := loop.Step(t.Context(), noon.Add(time.Second)).Loop.Refits; got != before {
		t.Errorf("%d rebuilds for an HPA that says the same, want %d", got, before)
	}
	jobs[0].Autoscalers = hpaWithMax(5)
	s := loop.Step(t.Context(), noon.Add(2*time.Second))
	e := entry(t, s, "llama")
	if s.Loop.Refits != before+1 || e.State != snapshot.Ready || e.Settings.MaxCapacity != 50 {
		t.Errorf("%d rebuilds, want %d; %s, and %g are usable by 5 replicas, want 50",
			s.Loop.Refits, before+1, e.State, e.Settings.MaxCapacity)
	}
	jobs[0].Uncapped = true
	if e = entry(t, loop.Step(t.Context(), noon.Add(3*time.Second)), "llama"); e.Settings.MaxCapacity != 0 {
		t.Errorf("the value is limited to %g, want no limit where another autoscaler reads it", e.Settings.MaxCapacity)
	}
	if len(source.queries) != 1 {
		t.Errorf("%d queries: the history was read again", len(source.queries))
	}
}
