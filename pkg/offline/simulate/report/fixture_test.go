package report_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

const (
	lead      = 5 * time.Minute
	capacity  = 1000.0
	objective = 0.01
	warmUp    = 24 * time.Hour
	inSlot    = 20 * time.Minute
)

// days are of a cycle of about 10 replicas, with bursts that nobody can foresee.
func days(n int) forecast.Series {
	random := rand.New(rand.NewPCG(7, 1))
	s := forecast.Series{Start: time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC), Step: 15 * time.Second}
	burst := 0.0
	for i := range n * 5760 {
		burst *= 0.995
		if random.IntN(2500) == 0 {
			burst += 9 * random.Float64()
		}
		level := 9 - 7*math.Cos(2*math.Pi*float64(i)/5760) + burst
		s.Values = append(s.Values, capacity*math.Max(0, level+0.3*random.NormFloat64()))
	}
	return s
}

// config is the stock autoscaler on the demand, with a target.
func config(s forecast.Series, target float64) simulate.Config {
	return simulate.Config{
		Demand: s, WarmUp: warmUp,
		Spec: sim.Spec{
			Capacity: capacity, PodLead: sim.Constant(lead),
			HPA: hpa.Spec{
				Min: 1, Max: 50, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{
					Name: "tokens", Source: hpa.External, Type: hpa.AverageValue, Target: int64(target * 1000),
				}},
			},
		},
	}
}

// course collects what the steps of a run show of it.
type course struct {
	slots         []compare.Slot
	arrived, late float64
}

func (c *course) record(start time.Time) func(sim.StepResult) {
	return func(m sim.StepResult) {
		since := m.At.Sub(start) - warmUp
		if since < 0 {
			return
		}
		if since%inSlot == 0 {
			c.slots = append(c.slots, compare.Slot{Start: m.At, Ready: math.Inf(1)})
			c.arrived, c.late = 0, 0
		}
		at := &c.slots[len(c.slots)-1]
		c.arrived, c.late = c.arrived+m.Arrived, c.late+m.Late
		at.Demand = math.Max(at.Demand, m.Arrived*240)
		at.Ready, at.Paid = math.Min(at.Ready, float64(m.Ready)), math.Max(at.Paid, float64(m.Held))
		if c.arrived > 0 {
			at.Late = c.late / c.arrived
		}
	}
}

// played is a policy at a target, with its frontier over the others.
func played(s forecast.Series, name string, target float64, serve []float64) (compare.PolicyResult, error) {
	out := compare.PolicyResult{Name: name, Target: target}
	for share := 0.3; share < 1.5; share += 0.15 {
		r, err := simulate.Run(config(s, share*capacity), simulate.NewTape(serve))
		if err != nil {
			return out, err
		}
		at := compare.Point{Setting: share * capacity, Late: r.LateShare(), RelativeCost: r.RelativeCost()}
		out.Frontier = append(out.Frontier, at)
	}
	var c course
	with := config(s, target)
	with.Record = c.record(s.Start)
	r, err := simulate.Run(with, simulate.NewTape(serve))
	out.Report, out.Timeline, out.MeetsObjective = r, c.slots, r.LateShare() <= objective
	return out, err
}

// made is a comparison of real runs on a made history, shared by all tests: nobody changes it. A maximum of 10 minutes
// stands in for forewarm, as only the telling is tested here.
var made = sync.OnceValues(func() (*compare.Comparison, error) {
	s := days(4)
	ahead, err := simulate.OracleValues(s, lead+75*time.Second, sim.DefaultSync)
	if err != nil {
		return nil, err
	}
	out := &compare.Comparison{
		Assumptions: compare.Assumptions{
			Source:      "demand.csv, column tokens",
			Start:       s.Start,
			Duration:    4 * 24 * time.Hour,
			Step:        s.Step,
			WarmUp:      warmUp,
			Autoscaler:  "HorizontalPodAutoscaler/llama of hpa.yaml",
			Target:      700,
			Capacity:    capacity,
			MinReplicas: 1,
			MaxReplicas: 50,
			LeadTime:    "5m0s, as given",
			Objective:   objective,
			Wait:        30 * time.Second,
			GPUs:        2,
			GPUPrice:    3.06,
		},
		Verdict: "Against your autoscaler with its best target, the maximum of 15 minutes would have been late less often. " +
			"This history is made up, and so is this verdict.",
		Notes: []string{"4 days are short: a fortnight shows a weekend."},
	}
	for _, p := range []struct {
		name   string
		target float64
		policy simulate.Policy
	}{
		{compare.HPA, 900, simulate.NewObserved()},
		{compare.BestTarget, 600, simulate.NewObserved()},
		{compare.Max15m, 750, simulate.NewMax(15*time.Minute, sim.DefaultSync)},
		{compare.Offset, 800, simulate.NewOffset(lead, sim.DefaultSync, 24*time.Hour)},
		{compare.Forewarm, 850, simulate.NewMax(10*time.Minute, sim.DefaultSync)},
		{compare.Oracle, 900, simulate.NewTape(ahead)},
	} {
		serve, err := simulate.ServedValues(s, sim.DefaultSync, p.policy)
		if err != nil {
			return nil, err
		}
		one, err := played(s, p.name, p.target, serve)
		if err != nil {
			return nil, err
		}
		out.Policies = append(out.Policies, one)
	}
	best := &out.Policies[1]
	best.Hindsight, best.MeanEarly, best.MeanLate = true, 42*time.Second, 150*time.Second
	return out, nil
})

// comparison is a copy of the one that was made, whose own fields a test may change; the policies are of its own, their
// courses and frontiers shared.
func comparison(t *testing.T) *compare.Comparison {
	t.Helper()
	c, err := made()
	if err != nil {
		t.Fatal(err)
	}
	out := *c
	out.Policies = append([]compare.PolicyResult(nil), c.Policies...)
	return &out
}
