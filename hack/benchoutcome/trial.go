package main

import (
	stdsync "sync"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/decide/headroom"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// trial is a trace with a lead time, and what policies may know of the other traces.
type trial struct {
	recorded
	lead lead
	step time.Duration
	// models are those that the regression reads, in the order of modelNames; without are the features that it leaves out.
	models, without []string
	// rehearsed are the scores of the reactive candidates on this trace, computed once.
	rehearsed func() (policy.Scores, error)
	// collected are the rows for the others' priors, shape its family's prior, lates what is late under each multiple.
	collected       func() (quantreg.Rows, error)
	windowPeakPrior func() (windowpeak.Prior, error)
	lateShares      func() (headroom.Priors, error)
	// others are the traces of all families, this one's included.
	others []*trial
	// firstDayToo: the first day is counted too, by itself.
	firstDayToo bool
	// oneSetting of each policy will do, instead of a sweep.
	oneSetting bool
}

func newTrials(traces []recorded, o options) []*trial {
	out := make([]*trial, len(traces))
	shapes := map[string]func() (windowpeak.Prior, error){}
	for i, r := range traces {
		t := &trial{
			recorded:    r,
			lead:        o.lead,
			step:        o.step,
			models:      inOrder(o.models),
			without:     o.without,
			others:      out,
			firstDayToo: o.firstDay,
		}
		t.prepareOnce()
		// Traces of one family have the same prior.
		if shapes[t.family] == nil {
			shapes[t.family] = t.windowPeakPrior
		}
		t.windowPeakPrior = shapes[t.family]
		out[i] = t
	}
	return out
}

// prepareOnce prepares what is computed once, by whoever asks first.
func (t *trial) prepareOnce() {
	t.rehearsed = stdsync.OnceValues(t.rehearse)
	t.collected = stdsync.OnceValues(t.collect)
	t.windowPeakPrior = stdsync.OnceValues(t.fitWindowPeakPrior)
	t.lateShares = stdsync.OnceValues(t.measureLateShares)
}

// window is the time ahead that a decision now concerns.
func (t *trial) window() time.Duration { return leadtime.Window(t.lead.planned()) }

// config of the workload, with a target as a share of a replica's capacity and a stabilization of scale-down. Every pod
// takes the lead time that is planned with.
func (t *trial) config(target float64, stabilization time.Duration) simulate.Config {
	down := hpa.DefaultScaleDown()
	down.Stabilization = stabilization
	return simulate.Config{
		Demand: t.demand, WarmUp: t.warmUp(), Refresh: t.step,
		Spec: hpasim.Spec{
			Capacity: replicaCapacity, PodLead: hpasim.Constant(t.lead.planned()), Sync: sync,
			HPA: hpa.Spec{
				Min: 1, Max: maxReplicas, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{
					{
						Name:   "demand",
						Source: hpa.External,
						Type:   hpa.AverageValue,
						Target: int64(target*replicaCapacity*1000 + 0.5),
					},
				},
				Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
			},
		},
	}
}

// maxReplicas is more than any trace asks for.
const maxReplicas = 100_000

// values are what a policy serves over the trace.
func (t *trial) values(p simulate.Policy) ([]float64, error) {
	return simulate.ServedValues(t.demand, t.step, p)
}
