package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide/ahead"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
	"github.com/forewarm/forewarm/pkg/workload"
)

// models are those that forewarm asks about every window.
func (c *Config) models() []ahead.Named { return ahead.Models(sync, c.window(), day) }

// lookback is how long one bad sample stands in the demand on the grid: a coarser one is laid there by lines from the sample
// before and to the sample after it.
func (h *history) lookback() time.Duration {
	if h.recorded.Step <= sync {
		return 0
	}
	return 2 * h.recorded.Step
}

// forewarned are the forecasts of one of forewarm's models for the window ahead, which hears of what is credible alone.
func (h *history) forewarned(done <-chan struct{}, c *Config, of ahead.Config) ([]float64, error) {
	model, err := ahead.New(of)
	if err != nil {
		return nil, err
	}
	config, err := h.decision(c, c.Objective, nil)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, h.demand.Len())
	_, err = h.values(done, policy.NewPassing(config.Credible(h.lookback()), func(s credible.Sample) {
		out = append(out, model.Push(s.Known()))
	}))
	return out, err
}

// decided are the values that forewarm serves for an objective, as the server decides them, and how it says it fares at
// the end. What its models forecast was computed before, in their order.
func (h *history) decided(done <-chan struct{}, c *Config, late float64, forecasts [][]float64) ([]float64,
	*outcome.Report, error,
) {
	of, err := h.decision(c, late, forecasts)
	if err != nil {
		return nil, nil, err
	}
	p, err := policy.NewForewarm(of, h.lookback())
	if err != nil {
		return nil, nil, err
	}
	values, err := h.values(done, p)
	return values, p.Objective().Report(), err
}

// decision is how the server would decide. Its shadows are as the server's: every replica takes the lead time that is
// planned with, and sustains the autoscaler's target.
func (h *history) decision(c *Config, late float64, forecasts [][]float64) (outcome.Config, error) {
	spec := c.spec(c.full())
	spec.Pod, spec.Nodes = workload.Constant(c.planned()), nil
	of := outcome.Config{
		Shape: shape.Config{Step: sync, Window: c.window(), Season: day},
		Lead:  c.planned(), Late: late, Start: h.demand.Start,
		Autoscalers: []outcome.Autoscaler{{By: c.Autoscaler, Spec: spec}},
	}
	for i, m := range c.models()[:len(forecasts)] {
		tape := &taped{forecasts[i]}
		if m.Feature {
			of.Shape.Models, of.Models = append(of.Shape.Models, m.Name), append(of.Models, tape)
		} else {
			of.Alone = append(of.Alone, outcome.Named{Name: m.Name, Forecaster: tape})
		}
	}
	var err error
	if of.Prior, err = shape.Shipped(c.window()); err != nil {
		return of, err
	}
	of.Margins, err = margin.Shipped(c.planned())
	return of, err
}
