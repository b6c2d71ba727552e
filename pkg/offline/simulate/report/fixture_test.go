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
	price, gpus, capacity := c.Assumptions.GPUPrice, c.Assumptions.GPUs, c.Assumptions.Capacity
	add := func(title, note, name string, hours, limited float64) *compare.Outcome {
		c.Scenarios = append(c.Scenarios, compare.Outcome{
			Scenario: compare.Scenario{Question: &compare.Question{Title: title, Notes: []string{note}}, Name: name},
			GPUs:     gpus, GPUPrice: price, Capacity: capacity, Dollars: hours * gpus * price,
			Limited: limited, MeetsObjective: limited <= c.Assumptions.Objective,
			Report: simulate.Report{ReplicaHours: hours, Duration: 100 * time.Hour, Started: 125},
		})
		return &c.Scenarios[len(c.Scenarios)-1]
	}
	const what, shapes, sleep, variants = "What would save more", "Other GPU shapes", "Servers that sleep", "Variants"
	add(what, "Each line is one change.", "lead time 1m0s", 211.2, 0.02).LeadTime = time.Minute
	add(what, "Each line is one change.", "wait 5m0s", 422.4, 0).Wait = 5 * time.Minute
	shape := func(name string, capacity, gpus, price, hours, limited float64) {
		o := add(shapes, "A shape is given.", name, hours, limited)
		o.Capacity, o.GPUs, o.GPUPrice, o.Dollars = capacity, gpus, price, hours*gpus*price
	}
	shape("h100", 1000, 2, 4, 800, 0.0097)
	shape("quarter", 300, 0.25, 1.1, 9600, 0.0085)
	add(sleep, "Asleep are others.", "forewarm, wakes in 5s", 700, 0.004).Asleep = 300
	add(sleep, "Asleep are others.", "the demand and 1 awake, wakes in 5s", 650, 0.03).Asleep = 900
	add(variants, "The cheapest first.", "own and spot", 900, 0.008).Parts = []compare.Part{
		{Name: "own", ReplicaHours: 300},
		{Name: "spot", ReplicaHours: 600},
	}
	c.Scenarios[len(c.Scenarios)-1].Dollars = 3000
	add(variants, "The cheapest first.", "spot alone", 2500, 0.05).Dollars = 2500
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
