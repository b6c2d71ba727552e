package main

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
)

// shapeConfig says what of the trace is forecast.
func (t *trial) shapeConfig() shape.Config {
	return shape.Config{Step: t.step, Window: t.window(), Models: t.models, Without: t.without}
}

// collected are the rows of this trace for the priors of the other families.
func (t *trial) collect() (quantreg.Rows, error) {
	const every = 10 * time.Minute
	tapes, err := t.tapes(t.models)
	if err != nil {
		return quantreg.Rows{}, err
	}
	collector := shape.NewCollector(t.shapeConfig(), int(every/t.step))
	_, err = t.values(collecting{collector, tapes, make([]float64, len(tapes))})
	return collector.Rows(), err
}

// collecting is a policy that serves nothing while it collects.
type collecting struct {
	collector *shape.Collector
	tapes     []outcome.Forecaster
	maxima    []float64
}

func (c collecting) Serve(o simulate.Observation) float64 {
	for i, m := range c.tapes {
		c.maxima[i] = m.Push(o.Arrived)
	}
	c.collector.Push(o.Demand, c.maxima)
	return math.NaN()
}

// shapePrior is fitted to the long traces of the other families, each family as much as any other.
func (t *trial) shapePrior() (shape.Prior, error) {
	columns := shape.NewFeatures(t.shapeConfig()).Names()
	others := t.elsewhere()
	if len(others) == 0 {
		return shape.Naive(columns), nil
	}
	families := map[string]int{}
	total := 0
	for _, other := range others {
		rows, err := other.collected()
		if err != nil {
			return shape.Prior{}, err
		}
		families[other.family] += len(rows.Y)
		total += len(rows.Y)
	}
	var all quantreg.Rows
	for _, other := range others {
		rows, err := other.collected()
		if err != nil {
			return shape.Prior{}, err
		}
		all.X, all.Y = append(all.X, rows.X...), append(all.Y, rows.Y...)
		weight := float64(total) / float64(len(families)*families[other.family])
		all.Weights = append(all.Weights, slices.Repeat([]float64{weight}, len(rows.Y))...)
	}
	return shape.Pool(columns, all)
}

// decision is forewarm's on this trace, with a multiple or for an objective.
func (t *trial) decision(fixed, late float64) (outcome.Config, error) {
	prior, err := t.shape()
	if err != nil {
		return outcome.Config{}, err
	}
	tapes, err := t.tapes(t.models)
	if err != nil {
		return outcome.Config{}, err
	}
	alone, err := t.alone()
	c := t.config(1, 0)
	return outcome.Config{
		Shape:       t.shapeConfig(),
		Prior:       prior,
		Models:      tapes,
		Alone:       alone,
		Lead:        t.lead.planned(),
		Fixed:       fixed,
		Late:        late,
		Autoscalers: []outcome.Autoscaler{{By: "the trace", Spec: c.Spec}},
		Start:       c.Demand.Start,
	}, err
}

// multiples are the shares late under each multiple of each candidate's grid, over the whole trace.
func (t *trial) multiples() (margin.Priors, error) {
	c, err := t.decision(0, 0.01)
	if err != nil {
		return nil, err
	}
	f, err := policy.NewForewarm(c, 0)
	if err != nil {
		return nil, err
	}
	_, err = t.values(f)
	return f.Objective().Lates(), err
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

// forewarmK sweeps one multiple for all traces. What is learnt does not depend on the multiple, and is learnt once.
func forewarmK(t *trial) ([]play, error) {
	c, err := t.decision(1, 0)
	if err != nil {
		return nil, err
	}
	f, err := policy.NewForewarm(c, 0)
	if err != nil {
		return nil, err
	}
	var plays []play
	for _, k := range t.some(margin.Grid()) {
		plays = append(plays, play{setting: k, target: 1})
	}
	_, err = t.values(multiplied{f, plays})
	return plays, err
}

// multiplied is a policy that notes what each multiple would serve, which is each play's setting.
type multiplied struct {
	forewarm *policy.Forewarm
	plays    []play
}

// Serve notes the values for the coming step, and serves none.
func (m multiplied) Serve(o simulate.Observation) float64 {
	m.forewarm.Serve(o)
	for i := range m.plays {
		m.plays[i].values = append(m.plays[i].values, m.forewarm.Under(m.plays[i].setting))
	}
	return math.NaN()
}

// forewarm sweeps one objective for all traces.
func forewarm(t *trial) ([]play, error) {
	return t.calibrated(objectives(), func(late float64) (outcome.Config, error) { return t.decision(0, late) })
}

// forewarmPrice sweeps one price of late demand for all traces.
func forewarmPrice(t *trial) ([]play, error) {
	return t.calibrated(prices(), func(price float64) (outcome.Config, error) {
		c, err := t.decision(0, 0)
		c.Price = price
		return c, err
	})
}

// calibrated sweeps a setting of decisions that are calibrated by their outcome.
func (t *trial) calibrated(settings []float64, decide func(float64) (outcome.Config, error)) ([]play, error) {
	priors, err := t.marginPrior()
	if err != nil {
		return nil, err
	}
	var out []play
	for _, setting := range t.some(settings) {
		c, err := decide(setting)
		if err != nil {
			return nil, err
		}
		c.Margins = priors
		p, err := t.forewarm(c, setting)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (t *trial) forewarm(c outcome.Config, setting float64) (play, error) {
	f, err := policy.NewForewarm(c, 0)
	if err != nil {
		return play{}, err
	}
	values, err := t.values(f)
	return play{setting: setting, values: values, target: 1}, err
}
