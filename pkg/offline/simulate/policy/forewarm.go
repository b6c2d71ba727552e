package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Forewarm serves what Forewarm decides on the demand between two observations. It is Loop without the refresh loop:
// nothing is rebuilt at anchors. While the history is no longer than what is kept, that changes nothing, except for
// suspect samples that are corroborated later.
type Forewarm struct {
	config     forecaster.Config
	forecaster *forecaster.Forecaster
	values     []float64
	newest     time.Time // the newest observation that had a demand
}

// NewForewarm returns a policy without history. The configuration must be valid; its step is the time between
// observations.
func NewForewarm(c forecaster.Config) *Forewarm {
	return &Forewarm{config: c, values: make([]float64, 1+len(c.ExtraSettings))}
}

// Serve is the value for the coming step.
func (p *Forewarm) Serve(o simulate.Observation) float64 { return p.ServeAll(o)[0] }

// ServeAll returns the values for the next step, of the policy and of those in Also; valid until the next call.
func (p *Forewarm) ServeAll(o simulate.Observation) []float64 {
	if p.forecaster == nil {
		p.forecaster = forecaster.New(p.config, forecaster.History{
			Series: forecast.Series{Start: o.At, Step: p.config.Step},
		})
	}
	if !math.IsNaN(o.Arrived) {
		p.newest = o.At
	}
	p.forecaster.Step(demand.Reading{Demand: float64(float32(o.Arrived))}) // As the server's store keeps it.
	p.forecaster.ValuesTo(p.values)
	age := o.At.Sub(p.newest) + p.config.Step // When it is served.
	for i, v := range p.values {
		switch {
		case age >= forecaster.StaleAfter(p.config.Window, p.config.Step):
			p.values[i] = math.NaN()
		case math.IsNaN(v) || age > forecaster.FallbackAfter(p.config.Step):
			p.values[i] = p.forecaster.Fallback().Value
		}
	}
	return p.values
}

// Forecaster is what decides; nil before the first observation.
func (p *Forewarm) Forecaster() *forecaster.Forecaster { return p.forecaster }
