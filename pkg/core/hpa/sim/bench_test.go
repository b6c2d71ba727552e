package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// BenchmarkAutoscalers measures an hour of 18 simulated autoscalers, as many as a decision runs alongside the real
// workload.
func BenchmarkAutoscalers(b *testing.B) {
	const n = 18
	rng := rand.New(rand.NewPCG(1, 2))
	spec := onNodes()
	spec.Nodes, spec.PodLead = nil, sim.Constant(5*time.Minute)
	shadows, err := sim.NewSimulation(spec, n, noon(), 2*step)
	if err != nil {
		b.Fatal(err)
	}
	demand := make([]float64, 120)
	for i := range demand {
		demand[i] = 20 + 5*rng.NormFloat64()
	}
	values := make([]float64, n)
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range demand {
			for i := range values {
				values[i] = d * (1 + 0.1*float64(i))
			}
			shadows.Play(values, d)
		}
	}
}
