package main

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// peaks says how the window peak of the trace is forecast.
func (t *trial) peaks() windowpeak.Config {
	return windowpeak.Config{Step: t.step, Window: t.window(), Models: t.models, Reads: t.models, Without: t.without}
}

// collected are the rows of this trace for the priors of the other families.
func (t *trial) collect() (quantreg.Rows, error) {
	const every = 10 * time.Minute
	c := t.peaks()
	c.Prior = windowpeak.Naive(windowpeak.NewFeatures(c).Names())
	set, err := windowpeak.New(c)
	if err != nil {
		return quantreg.Rows{}, err
	}
	collector := windowpeak.NewCollector(set, int(every/t.step))
	_, err = t.values(collecting{collector})
	return collector.Rows(), err
}

// collecting is a policy that serves nothing while it collects.
type collecting struct{ collector *windowpeak.Collector }

func (c collecting) Serve(o simulate.Observation) float64 {
	c.collector.Step(windowpeak.Sample{Observed: o.Demand, Arrived: o.Arrived})
	return math.NaN()
}

// shapePrior is fitted to the long traces of the other families, each family as much as any other.
func (t *trial) shapePrior() (windowpeak.Prior, error) {
	columns := windowpeak.NewFeatures(t.peaks()).Names()
	others := t.elsewhere()
	if len(others) == 0 {
		return windowpeak.Naive(columns), nil
	}
	families := map[string]int{}
	total := 0
	for _, other := range others {
		rows, err := other.collected()
		if err != nil {
			return windowpeak.Prior{}, err
		}
		families[other.family] += len(rows.Y)
		total += len(rows.Y)
	}
	var all quantreg.Rows
	for _, other := range others {
		rows, err := other.collected()
		if err != nil {
			return windowpeak.Prior{}, err
		}
		all.X, all.Y = append(all.X, rows.X...), append(all.Y, rows.Y...)
		weight := float64(total) / float64(len(families)*families[other.family])
		all.Weights = append(all.Weights, slices.Repeat([]float64{weight}, len(rows.Y))...)
	}
	return windowpeak.Pool(columns, all)
}

// forewarm is what the server makes of this trace, asked for each of some policies at once. Of the multiples each replaces
// what the outcome says.
func (t *trial) forewarm(asked []decide.Policy, margins margin.Priors, multiples []float64) (*policy.Forewarm, error) {
	prior, err := t.shape()
	if err != nil {
		return nil, err
	}
	for i := range asked {
		asked[i].Target, asked[i].Lead, asked[i].Mode = unit, t.lead.planned(), decide.Floor
	}
	models := slices.Clone(t.models)
	for _, name := range outcome.Contenders() {
		if !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return policy.NewForewarm(forecaster.Config{
		Step: t.step, Window: t.window(), Rate: true, Models: models, Policy: asked[0], Also: asked[1:],
		Scalings: []decide.Scaling{{By: "the trace", HPA: t.config(1, 0).HPA}},
		Learnt: &forecaster.Learnt{
			Prior: prior, Margins: margins, Reads: t.models, Without: t.without, Multiple: multiples,
		},
	}), nil
}

// multiples are the shares late under each multiple of each candidate's grid, over the whole trace.
func (t *trial) multiples() (margin.Priors, error) {
	f, err := t.forewarm([]decide.Policy{{Late: 0.01}}, nil, nil)
	if err != nil {
		return nil, err
	}
	_, err = t.values(f)
	return f.Forecaster().Objective().Lates(), err
}

// marginPrior is the geometric mean over the other families of what was late under each multiple.
func (t *trial) marginPrior() (margin.Priors, error) {
	others := t.elsewhere()
	if len(others) == 0 {
		return margin.Shipped(t.lead.planned())
	}
	logs := margin.Priors{}
	for i, weight := range weightsOf(others) {
		all, err := others[i].lates()
		if err != nil {
			return nil, err
		}
		for name, late := range all {
			logs[name] = plusLogs(logs[name], weight, late)
		}
	}
	for _, late := range logs {
		for i := range late {
			late[i] = math.Exp(late[i])
		}
	}
	return logs, nil
}

// plusLogs adds the logarithms of what was late, under a weight, to a sum that is nil before the first.
func plusLogs(sum []float64, weight float64, late []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(late))
	}
	for i := range late {
		sum[i] += weight * math.Log(late[i]+leastLogLate)
	}
	return sum
}

// forewarmK sweeps one multiple for all traces.
func forewarmK(t *trial) ([]play, error) {
	settings := t.some(margin.Grid())
	asked := make([]decide.Policy, len(settings))
	multiples := make([]float64, len(settings))
	for i, k := range settings {
		asked[i].Late, multiples[i] = 0.01, max(k, leastMultiple)
	}
	f, err := t.forewarm(asked, nil, multiples)
	if err != nil {
		return nil, err
	}
	return t.together(f, settings)
}

// leastMultiple stands for 0, which leaves a multiple to the outcome.
const leastMultiple = 1e-9

// forewarm sweeps one objective for all traces.
func forewarm(t *trial) ([]play, error) {
	return t.calibrated(objectives(), func(late float64) decide.Policy { return decide.Policy{Late: late} })
}

// forewarmPrice sweeps one price of late demand for all traces.
func forewarmPrice(t *trial) ([]play, error) {
	return t.calibrated(prices(), func(price float64) decide.Policy { return decide.Policy{CostRatio: price} })
}

// calibrated sweeps a setting of policies that are calibrated by their outcome.
func (t *trial) calibrated(settings []float64, of func(float64) decide.Policy) ([]play, error) {
	priors, err := t.marginPrior()
	if err != nil {
		return nil, err
	}
	settings = t.some(settings)
	asked := make([]decide.Policy, len(settings))
	for i, setting := range settings {
		asked[i] = of(setting)
	}
	f, err := t.forewarm(asked, priors, nil)
	if err != nil {
		return nil, err
	}
	return t.together(f, settings)
}

// together plays all settings at once.
func (t *trial) together(f *policy.Forewarm, settings []float64) ([]play, error) {
	plays := make([]play, len(settings))
	for i, setting := range settings {
		plays[i] = play{setting: setting, target: 1}
	}
	_, err := t.values(noting{f, plays})
	return plays, err
}

// noting is a policy that notes what each play's setting would serve.
type noting struct {
	forewarm *policy.Forewarm
	plays    []play
}

// Serve notes the values for the coming step, and serves none.
func (n noting) Serve(o simulate.Observation) float64 {
	for i, v := range n.forewarm.ServeAll(o) {
		n.plays[i].values = append(n.plays[i].values, v)
	}
	return math.NaN()
}
