package main

import (
	stdsync "sync"
	"time"

	"github.com/forewarm/forewarm/pkg/hpa"
	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
)

// trial is a trace under a lead time, and what rivals may know of the others.
type trial struct {
	recorded
	lead, step time.Duration
	// rehearsed are the scores of the reactive candidates on this trace, computed once.
	rehearsed func() (policy.Scores, error)
	// others are the traces of all families, this one's included.
	others []*trial
}

func newTrials(traces []recorded, o options) []*trial {
	out := make([]*trial, len(traces))
	for i, r := range traces {
		t := &trial{recorded: r, lead: o.lead, step: o.step, others: out}
		t.rehearsed = stdsync.OnceValues(t.rehearse)
		out[i] = t
	}
	return out
}

// window is the time ahead that a decision now concerns: the lead time and 75 s for what comes before it, the sync, the
// step and the lag of the metric.
func (t *trial) window() time.Duration { return t.lead + 75*time.Second }

// config of the workload, with a target as a share of a replica's capacity and a stabilization of scale-down.
func (t *trial) config(target float64, stabilization time.Duration) simulate.Config {
	down := hpa.DefaultScaleDown()
	down.Stabilization = stabilization
	return simulate.Config{
		Demand:   t.demand,
		Capacity: unit,
		Pod:      simulate.Constant(t.lead),
		WarmUp:   t.warmUp(),
		Sync:     sync,
		Refresh:  t.step,
		HPA: hpa.Spec{
			Min: 1, Max: maxReplicas, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{
				Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: int64(target*unit*1000 + 0.5),
			}},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		},
	}
}

// maxReplicas is more than any trace asks for.
const maxReplicas = 100_000

// values are what a policy serves over the trace.
func (t *trial) values(p simulate.Policy) ([]float64, error) {
	return simulate.Values(t.demand, t.step, p)
}
