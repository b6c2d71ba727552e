package fleet

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// replicas returns how many replicas of each consumer fit next to the GPUs that are kept for the members during its runs.
func (c *Config) replicas(need func(fleet.Consumer) float64) []int {
	var p fleet.Plan
	for _, b := range c.Batch {
		p.Batch = append(p.Batch, fleet.Spare{Consumer: b, Need: need(b)})
	}
	out := make([]int, len(c.Batch))
	for i, part := range p.Share(c.GPUs) {
		out[i] = int(part.Value/part.Capacity + 1e-6)
	}
	return out
}

// reactive is the policy without a plan: the members need what they hold.
func (c *Config) reactive(_ time.Time, all []sim.Placement) []int {
	held := 0.0
	for i := range all {
		held += float64(all[i].Placed) * c.Members[i].GPUs
	}
	return c.replicas(func(fleet.Consumer) float64 { return held })
}

// oracle knows what the members will ask for.
func (c *Config) oracle(asked []float64) func(time.Time, []sim.Placement) []int {
	needs := map[time.Duration][]float64{}
	for _, b := range c.Batch {
		// The maximum of the steps ahead is the trailing maximum of the reversed series.
		ahead := series.NewTrailingMax(max(int(b.Run/sim.DefaultSync), 1))
		need := make([]float64, len(asked))
		for i, v := range slices.Backward(asked) {
			need[i] = ahead.Push(v)
		}
		needs[b.Run] = need
	}
	return func(at time.Time, _ []sim.Placement) []int {
		i := int(at.Sub(c.start()) / sim.DefaultSync)
		return c.replicas(func(b fleet.Consumer) float64 { return needs[b.Run][i] })
	}
}

// planned is Forewarm's plan, made at each of its steps.
func (c *Config) planned() func(time.Time, []sim.Placement) []int {
	var planner fleet.Planner
	newest := make([]int, len(c.Batch))
	return func(at time.Time, all []sim.Placement) []int {
		if at.Sub(c.start())%compare.Step != 0 {
			return newest
		}
		f := fleet.Fleet{GPUs: c.GPUs, Batch: c.Batch}
		for i := range c.Members {
			m, replicas := &c.Members[i], all[i].Placed+all[i].Waiting
			f.Members = append(f.Members, fleet.Member{
				Name: m.Name, GPUs: m.GPUs, Target: float64(m.Spec.HPA.Metrics[0].Target) / 1000,
				MinReplicas: int(m.Spec.HPA.Min), MaxReplicas: int(m.Spec.HPA.Max), Present: replicas,
				Outlook: m.Outlook(at),
			})
		}
		plan := planner.Plan(at, f)
		for i := range plan.Batch {
			newest[i] = plan.Batch[i].Replicas
		}
		return newest
	}
}
