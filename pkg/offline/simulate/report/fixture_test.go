package report_test

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// comparison is that of six policies on two days, in whose first morning demand was late.
func comparison() *compare.Comparison {
	start := time.Date(2026, time.November, 4, 2, 40, 0, 0, time.UTC)
	c := &compare.Comparison{
		Assumptions: compare.Assumptions{
			Source:      "demand.csv, column tokens",
			Start:       start.Add(-24 * time.Hour),
			Duration:    58 * time.Hour,
			Step:        15 * time.Second,
			WarmUp:      24 * time.Hour,
			Autoscaler:  "HorizontalPodAutoscaler/llama of hpa.yaml",
			Target:      700,
			Capacity:    1000,
			MinReplicas: 1,
			MaxReplicas: 50,
			LeadTime:    "5m0s, as given",
			Objective:   0.01,
			Wait:        30 * time.Second,
			GPUs:        2,
			GPUPrice:    3.06,
		},
		Verdict: "This history is made up, and so is this verdict, which is long enough to need a second line in a terminal of any width.",
		Notes:   []string{"Two days are short: a fortnight shows a weekend."},
	}
	for i, p := range []struct {
		name                     string
		target, hours, lateShare float64
	}{
		{compare.HPA, 900, 792.3, 0.0155},
		{compare.BestTarget, 600, 1178.9, 0.001},
		{compare.Max15m, 750, 960.4, 0.0035},
		{compare.Offset, 800, 939.2, 0.0043},
		{compare.Forewarm, 1000, 844.8, 0.0097},
		{compare.Oracle, 900, 800.6, 0},
	} {
		one := compare.PolicyResult{
			Name:           p.name,
			Target:         p.target,
			Hindsight:      p.name == compare.BestTarget,
			MeetsObjective: p.lateShare <= 0.01,
			MeanEarly:      time.Duration(i) * 42 * time.Second,
			MeanLate:       150 * time.Second,
			Report: simulate.Report{
				Duration:     34 * time.Hour,
				ReplicaHours: p.hours,
				Arrived:      674,
				Late:         674 * p.lateShare,
				Dropped:      67 * p.lateShare,
				Started:      65,
				Stopped:      60 + i,
				ColdStarts:   i,
				Peak:         25 + i,
			},
		}
		for _, share := range []float64{0.5, 0.9, 1, 1.1, 2} {
			one.Frontier = append(one.Frontier, compare.Point{
				Setting: share * p.target, Late: share * p.lateShare, RelativeCost: p.hours / 674 / share,
			})
		}
		for j := range 100 {
			slot := compare.Slot{
				Start:  start.Add(time.Duration(j) * 20 * time.Minute),
				Demand: float64(7 + j%16),
				Ready:  6,
				Paid:   8,
			}
			if j >= 6 && j < 9 {
				slot.Late = 20 * p.lateShare
			}
			one.Timeline = append(one.Timeline, slot)
		}
		c.Policies = append(c.Policies, one)
	}
	return c
}

// withAnswers is the comparison with all that can be asked in addition to it.
func withAnswers() *compare.Comparison {
	c := comparison()
	price, gpus := c.Assumptions.GPUPrice, c.Assumptions.GPUs
	c.WhatIfs = []compare.WhatIf{
		{
			Change:       "lead time 1m0s",
			LeadTime:     time.Minute,
			GPUs:         gpus,
			GPUPrice:     price,
			ReplicaHours: 211.2,
			Limited:      0.02,
		},
		{
			Change:         "wait 5m0s",
			Wait:           5 * time.Minute,
			GPUs:           gpus,
			GPUPrice:       price,
			ReplicaHours:   422.4,
			MeetsObjective: true,
		},
	}
	c.Shapes = []compare.WhatIf{
		{
			Change:         "h100",
			Capacity:       1000,
			GPUs:           2,
			GPUPrice:       4,
			ReplicaHours:   800,
			Limited:        0.0097,
			MeetsObjective: true,
		},
		{
			Change:         "quarter",
			Capacity:       300,
			GPUs:           0.25,
			GPUPrice:       1.1,
			ReplicaHours:   9600,
			Limited:        0.0085,
			MeetsObjective: true,
		},
	}
	c.Wakes = &compare.WakesResult{
		Wake:   compare.Wake{Time: 5 * time.Second, Spare: 1},
		Demand: 500,
		Starts: compare.WakeResult{
			Policy:         "forewarm, starts in 5m0s",
			Awake:          844.8,
			Limited:        0.0097,
			MeetsObjective: true,
		},
		Wakes: []compare.WakeResult{
			{Policy: "forewarm, wakes in 5s", Awake: 700, Asleep: 300, Limited: 0.004, MeetsObjective: true},
			{Policy: "the demand and 1 awake, wakes in 5s", Awake: 650, Asleep: 900, Limited: 0.03},
		},
	}
	c.Variants = &compare.VariantsResult{
		Names: []string{"own", "spot"}, Demand: 500,
		Results: []compare.VariantResult{
			{
				Dollars:        3000,
				ReplicaHours:   []float64{300, 600},
				Limited:        0.008,
				MeetsObjective: true,
				ChurnPerHour:   1.25,
			},
			{
				Name:           "own",
				Dollars:        5170,
				ReplicaHours:   []float64{844.8, 0},
				Limited:        0.0097,
				MeetsObjective: true,
				ChurnPerHour:   2,
			},
			{Name: "spot", Dollars: 2500, ReplicaHours: []float64{0, 2500}, Limited: 0.05, ChurnPerHour: 3},
		},
	}
	trial := func(holding compare.Holding, hours, idle, limited float64) compare.Trial {
		return compare.Trial{
			Policy: compare.Forewarm, Target: 1000, Holding: holding, Limited: limited, MeetsObjective: limited <= 0.01,
			Report: simulate.Report{
				Duration:         72 * time.Hour,
				ReplicaHours:     hours,
				IdleReplicaHours: idle,
				Arrived:          1,
				Late:             limited,
				Started:          200,
				WaitedForNode:    50,
				NodeWait:         5 * time.Hour,
			},
			Pool: compare.PoolTally{All: 100, Covered: 64, FellBack: 7, OverBudget: 3},
		}
	}
	c.WarmPool = &compare.PoolResult{
		Pool: compare.Pool{
			Name: "WarmPool/h100 in pool.yaml", Member: "llama", Members: 3, Chunks: 0.5,
			Spec: warmpool.Pool{Quantile: 0.95, Min: 1, Max: 12, Fallback: 2, GPUs: 4, Budget: 20},
		},
		Members: 3,
		Trials: []compare.Trial{
			trial(compare.HoldNothing, 1000, 0, 0.012), trial(compare.HoldPlanned, 900, 30, 0.0095),
			trial(compare.HoldPlanned, 910, 40, 0.0094), trial(compare.HoldFixed, 950, 60, 0.009),
		},
		Verdict: "The pool pays, or so it is said <here>.", Notes: []string{"Nothing is known of the others."},
	}
	own, fixed := &c.WarmPool.Trials[1], &c.WarmPool.Trials[3]
	own.Budget, own.OwnBudget, own.Timeline = 20, true, c.Policies[0].Timeline[:12]
	fixed.FixedChunks, fixed.Hindsight = 4, true
	return c
}

// byBadHours lets the objective of a comparison limit the demand in bad hours, of which a policy had one.
func byBadHours(c *compare.Comparison) {
	c.Assumptions.BadHours = true
	for i := range c.Policies {
		c.Policies[i].MeetsObjective = false
		c.Policies[i].Report.BadHours = sim.BadHours{
			Arrived: 1000, Bad: 70, Hours: 34, Count: 1,
			List: []sim.BadHour{{Start: c.Assumptions.Start, Arrived: 70, Late: 20}},
		}
	}
	if c.WarmPool != nil {
		for i := range c.WarmPool.Trials {
			t := &c.WarmPool.Trials[i]
			t.Report.BadHours = sim.BadHours{Arrived: 1, Bad: t.Limited}
		}
	}
}
