package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// randomSpec is a workload with a random HPA: with or without a behavior, on totals or averages.
func randomSpec(rng *rand.Rand) sim.Spec {
	s := sim.Spec{
		Capacity: 10, PodLead: sim.Constant(rng.IntN(5)) * sim.Constant(time.Minute),
		HPA: hpa.Spec{
			Min: 1, Max: 2 + rng.Int32N(20), Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
		},
	}
	if rng.IntN(2) == 0 {
		s.HPA.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
		s.HPA.Behavior.Up.Stabilization = time.Duration(rng.IntN(3)) * time.Minute
		s.HPA.Behavior.Down.Stabilization = time.Duration(rng.IntN(9)) * time.Minute
		s.HPA.Behavior.Down.Policies = []hpa.ScalingPolicy{{Type: hpa.Pods, Value: 1, Period: 2 * time.Minute}}
	}
	s.PassDeadBand = rng.IntN(2) == 0
	switch rng.IntN(4) {
	case 0:
		s.HPA.Metrics[0].Type = hpa.Value
	case 1:
		s.PodLead = sim.LogNormal{Mean: time.Minute, Sigma: 0.5}
	case 2:
		s.Nodes = &sim.Nodes{Lead: sim.Constant(3 * time.Minute), PodsPerNode: 3, KeepIdle: 5 * time.Minute}
	}
	return s
}

// Autoscalers skip steps where nothing changes. Their score equals, to the last bit, that of workloads simulated step
// by step.
func TestAutoscalersAreWorkloads(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	late := 0.0
	for range 200 {
		spec, n := randomSpec(rng), 3
		syncs := 1 + rng.IntN(5)
		shadows, err := sim.NewSimulation(spec, n, start, time.Duration(syncs)*sim.DefaultSync)
		if err != nil {
			t.Fatal(err)
		}
		demand := 100 * rng.Float64()
		var plain []*sim.Workload
		for range n {
			w, err := sim.New(spec, start, sim.DefaultSync, []float64{demand})
			if err != nil {
				t.Fatal(err)
			}
			plain = append(plain, w...)
		}
		want := sim.Score{Late: make([]float64, n), Paid: make([]float64, n), Capped: make([]float64, n)}
		values := make([]float64, n)
		for range 200 {
			shadows.Play(values, demand)
			for i, w := range plain {
				for range syncs {
					count(&want, i, w.Step(values[i], demand), int(spec.HPA.Max))
				}
			}
			if rng.IntN(3) == 0 {
				demand = nextDemand(rng, demand)
			}
			for i := range values {
				if rng.IntN(2) == 0 {
					values[i] = demand * (0.8 + 0.4*float64(i))
				}
			}
		}
		got := shadows.Score()
		late += got.Late[0]
		want.Hours = got.Hours
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v (-want +got)\n%s", spec, diff)
		}
	}
	if !(late > 0) {
		t.Error("no late demand: this test proves nothing")
	}
}

// nextDemand is the demand one step later: mostly a small change, sometimes a jump, 0 or NaN.
func nextDemand(rng *rand.Rand, demand float64) float64 {
	switch rng.IntN(20) {
	case 0:
		return 300 * rng.Float64()
	case 1:
		return 0
	case 2:
		return math.NaN()
	}
	if math.IsNaN(demand) {
		return 50
	}
	return demand * (0.95 + 0.1*rng.Float64())
}

func count(s *sim.Score, i int, m sim.StepResult, most int) {
	s.Late[i] += m.Late
	s.Paid[i] += float64(m.Held) * sim.DefaultSync.Hours()
	if m.Replicas >= most {
		s.Capped[i] += m.Late
	}
	if i == 0 {
		s.Arrived += m.Arrived
	}
}

// A workload that begins without demand and may scale to zero begins at zero, and its HPA wakes it.
func TestAWorkloadThatBeginsAtZeroWakes(t *testing.T) {
	spec := sim.Spec{
		Capacity: 10, PodLead: sim.Constant(time.Minute), FromZero: true,
		HPA: hpa.Spec{
			Max: 20, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
		},
	}
	spec.HPA.Cluster.ScaleToZero = true
	all, err := sim.New(spec, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), sim.DefaultSync, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	var last sim.StepResult
	for i := range 40 {
		value := 0.0
		if i >= 20 {
			value = 5
		}
		if last = all[0].Step(value, value); i < 20 && last.Held != 0 {
			t.Fatalf("step %d: %+v", i, last)
		}
	}
	if last.Ready != 1 {
		t.Errorf("five minutes after the demand began: %+v", last)
	}
}
