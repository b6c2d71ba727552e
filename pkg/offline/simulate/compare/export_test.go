package compare

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// Planned is the lead time that those reckon with who look ahead.
func (l LeadTime) Planned() time.Duration { return l.planned() }

// Pods are the lead times that are played.
func (l LeadTime) Pods() sim.LeadTime { return l.pods() } //nolint:ireturn // What a sim.Spec holds.

// MakeVerdict is the verdict of a comparison.
func (c *Comparison) MakeVerdict() string { return c.verdict() }

// PoolVerdict is what is said of a pool first.
func (c *Comparison) PoolVerdict(w *PoolResult) string { return c.poolVerdict(w) }

// Starts are the lead times of Forewarm's simulated autoscalers.
func (c *Config) Starts() sim.LeadTime { return c.leadWithNode().pods() } //nolint:ireturn // What a sim.Spec holds.

// Judge compares forewarm with hpa, whose days are all alike.
func (c *Comparison) Judge() {
	outcome := func(name string) verdict.Outcome {
		of := c.Find(name)
		days := int(of.Report.Duration / day)
		return verdict.Outcome{
			Setting: of.Target, Share: of.Report.LateShare(),
			Cost: slices.Repeat([]float64{c.gpuHours(&of.Report) / float64(days)}, days),
		}
	}
	of := verdict.Comparison{
		Objective: c.Assumptions.Objective,
		Unit:      "GPU-hours",
		Price:     c.Assumptions.GPUPrice,
		Period:    "12 days",
		HPAName:   "your HPA",
		Forewarm:  outcome(Forewarm),
		HPA:       outcome(HPA),
		Targets:   []verdict.Outcome{outcome(BestTarget)},
	}
	v := of.Judge()
	c.Judged = &v
}
