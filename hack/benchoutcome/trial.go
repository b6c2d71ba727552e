package main

import (
	stdsync "sync"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// trial is a trace under a lead time, and what rivals may know of the others.
type trial struct {
	recorded
	lead lead
	step time.Duration
	// models and without say what forewarm's shape is learnt from; models are in the order of models().
	models, without []string
	// rehearsed are the scores of the reactive candidates on this trace, computed once.
	rehearsed func() (policy.Scores, error)
	// collected are the rows for the others' priors, shape its family's prior, lates what is late under each multiple.
	collected func() (quantreg.Rows, error)
	shape     func() (windowpeak.Prior, error)
	lates     func() (margin.Priors, error)
	// others are the traces of all families, this one's included.
	others []*trial
	// cold: the first day is counted too, by itself.
	cold bool
	// oneSetting of each policy will do, instead of a sweep.
	oneSetting bool
}

func newTrials(traces []recorded, o options) []*trial {
	out := make([]*trial, len(traces))
	shapes := map[string]func() (windowpeak.Prior, error){}
	for i, r := range traces {
		t := &trial{
			recorded: r,
			lead:     o.lead,
			step:     o.step,
			models:   inOrder(o.models),
			without:  o.without,
			others:   out,
			cold:     o.cold,
		}
		t.share()
		// Traces of one family are taught by the same others.
		if shapes[t.family] == nil {
			shapes[t.family] = t.shape
		}
		t.shape = shapes[t.family]
		out[i] = t
	}
	return out
}

// share prepares what is computed once, by whoever asks first.
func (t *trial) share() {
	t.rehearsed = stdsync.OnceValues(t.rehearse)
	t.collected = stdsync.OnceValues(t.collect)
	t.shape = stdsync.OnceValues(t.shapePrior)
	t.lates = stdsync.OnceValues(t.multiples)
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
			Capacity: unit, Pod: hpasim.Constant(t.lead.planned()), Sync: sync,
			HPA: hpa.Spec{
				Min: 1, Max: maxReplicas, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{
					Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: int64(target*unit*1000 + 0.5),
				}},
				Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
			},
		},
	}
}

// maxReplicas is more than any trace asks for.
const maxReplicas = 100_000

// values are what a policy serves over the trace.
func (t *trial) values(p simulate.Policy) ([]float64, error) {
	return simulate.Values(t.demand, t.step, p)
}
