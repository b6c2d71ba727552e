package policy

import (
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/forecaster"
	"github.com/forewarm/forewarm/pkg/repair"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// Forewarm serves what forewarm decides of the demand that arrives between two observations.
type Forewarm struct {
	config     forecaster.Config
	forecaster *forecaster.Forecaster
	values     []float64
}

// NewForewarm has seen nothing yet. The configuration must be valid; its step is the time between observations.
func NewForewarm(c forecaster.Config) *Forewarm {
	return &Forewarm{config: c, values: make([]float64, 1+len(c.Also))}
}

// Serve is the value for the coming step.
func (p *Forewarm) Serve(o simulate.Observation) float64 { return p.ServeAll(o)[0] }

// ServeAll are the values for the coming step under the policy and those beside it; good until the next call.
func (p *Forewarm) ServeAll(o simulate.Observation) []float64 {
	if p.forecaster == nil {
		p.forecaster = forecaster.New(p.config, forecaster.History{
			Series: forecast.Series{Start: o.At, Step: p.config.Step},
		})
	}
	p.forecaster.Step(repair.Reading{Demand: o.Arrived})
	p.forecaster.ValuesTo(p.values)
	for i, v := range p.values {
		if math.IsNaN(v) {
			p.values[i] = p.forecaster.Fallback().Value
		}
	}
	return p.values
}

// Forecaster is what decides; nil before the first observation.
func (p *Forewarm) Forecaster() *forecaster.Forecaster { return p.forecaster }
