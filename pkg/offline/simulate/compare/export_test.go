package compare

import (
	"context"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
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

// KnownOnTheServer is what the plan of a fleet gets from the server's snapshot after a whole history.
func KnownOnTheServer(ctx context.Context, c Config) (fleet.Outlook, error) {
	p, err := newPlan(ctx, "test", c)
	if err != nil {
		return fleet.Outlook{}, err
	}
	of := p.forecasterConfig(p.Objective)
	of.KeepServedPeaks = true
	r := simulate.NewForewarm(of)
	if _, err := simulate.ServedValues(p.demand, Step, r); err != nil {
		return fleet.Outlook{}, err
	}
	e := snapshot.ForecastSnapshot{State: snapshot.Ready}
	r.Forecaster().Describe(&e)
	e.StaleAt = p.demand.End().Add(time.Hour)
	return fleet.OutlookOf(&e, p.demand.End()), nil
}
