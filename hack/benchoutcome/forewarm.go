package main

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/decide/margin"
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
	tapes, err := t.tapes()
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
	tapes     []policy.Forecaster
	maxima    []float64
}

func (c collecting) Serve(o simulate.Observation) float64 {
	for i, m := range c.tapes {
		c.maxima[i] = m.Ahead(o)
	}
	c.collector.Push(o.Demand, c.maxima)
	return math.NaN()
}

// shapePrior is fitted to the long traces of the other families, each family as much as any other.
func (t *trial) shapePrior() (shape.Prior, error) {
	columns := shape.NewFeatures(t.shapeConfig()).Names()
	var all quantreg.Rows
	families := map[string]int{}
	parts := map[*trial]quantreg.Rows{}
	for _, other := range t.others {
		if other.family == t.family || !other.counts() {
			continue
		}
		rows, err := other.collected()
		if err != nil {
			return shape.Prior{}, err
		}
		parts[other] = rows
		families[other.family] += len(rows.Y)
	}
	if len(families) == 0 {
		return shape.Naive(columns), nil
	}
	total := 0
	for _, n := range families {
		total += n
	}
	for _, other := range t.others {
		rows, ok := parts[other]
		if !ok {
			continue
		}
		all.X, all.Y = append(all.X, rows.X...), append(all.Y, rows.Y...)
		weight := float64(total) / float64(len(families)*families[other.family])
		for range rows.Y {
			all.Weights = append(all.Weights, weight)
		}
	}
	return shape.Pool(columns, all)
}

// decision is forewarm's on this trace.
func (t *trial) decision() (policy.Decision, error) {
	prior, err := t.shape()
	return policy.Decision{
		Shape: t.shapeConfig(), Prior: prior, Lead: t.lead, Workload: t.config(1, 0),
	}, err
}

// multiples is the share late under each multiple of the grid, over the whole trace.
func (t *trial) multiples() ([]float64, error) {
	plays, err := t.byMultiple()
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(plays))
	for i, p := range plays {
		c := t.config(1, 0)
		c.WarmUp = 0
		report, err := simulate.Run(c, simulate.NewTape(p.values))
		if err != nil {
			return nil, err
		}
		out[i] = report.LateShare()
	}
	return out, nil
}

// marginPrior is the geometric mean over the other families of what was late under each multiple.
func (t *trial) marginPrior() ([]float64, error) {
	families := map[string]int{}
	for _, other := range t.others {
		if other.family != t.family && other.counts() {
			families[other.family]++
		}
	}
	if len(families) == 0 {
		return margin.Prior(t.lead), nil
	}
	out := make([]float64, len(margin.Grid()))
	for _, other := range t.others {
		if families[other.family] == 0 || !other.counts() {
			continue
		}
		late, err := other.lates()
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] += math.Log(late[i]+1e-4) / float64(len(families)*families[other.family])
		}
	}
	for i := range out {
		out[i] = math.Exp(out[i])
	}
	return out, nil
}

// forewarmK sweeps one multiple for all traces.
func forewarmK(t *trial) ([]play, error) { return t.byMultiple() }

// playMultiples lets forewarm serve with each multiple of the grid.
func (t *trial) playMultiples() ([]play, error) {
	d, err := t.decision()
	if err != nil {
		return nil, err
	}
	var out []play
	for _, k := range t.some(margin.Grid()) {
		d.K = math.Max(k, 1e-9)
		p, err := t.forewarm(d, k)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// forewarm sweeps one objective for all traces.
func forewarm(t *trial) ([]play, error) {
	d, err := t.decision()
	if err != nil {
		return nil, err
	}
	d.Margin, err = t.marginPrior()
	if err != nil {
		return nil, err
	}
	var out []play
	for _, objective := range t.some(objectives()) {
		d.Late = objective
		p, err := t.forewarm(d, objective)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (t *trial) forewarm(d policy.Decision, setting float64) (play, error) {
	tapes, err := t.tapes()
	if err != nil {
		return play{}, err
	}
	d.Models = tapes
	f, err := policy.NewForewarm(d)
	if err != nil {
		return play{}, err
	}
	values, err := t.values(f)
	return play{setting: setting, values: values, target: 1}, err
}
