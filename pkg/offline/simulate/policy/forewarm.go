package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Forewarm serves what forewarm decides of the demand that arrives between two observations. It is what Loop plays without
// the loop: nothing is rebuilt at anchors, which changes nothing while the history is no longer than is kept, but for a
// suspect that is corroborated later.
type Forewarm struct {
	config     forecaster.Config
	forecaster *forecaster.Forecaster
	values     []float64
	newest     time.Time // the newest observation that had a demand
}

// NewForewarm has seen nothing yet. The configuration must be valid; its step is the time between observations.
func NewForewarm(c forecaster.Config) *Forewarm {
	return &Forewarm{config: c, values: make([]float64, 1+len(c.Also))}
}

// staleAfter is the age of the newest demand at which nothing is served, as the server has it by default.
func (p *Forewarm) staleAfter() time.Duration { return max(10*time.Minute, p.config.Window) }

// Serve is the value for the coming step.
func (p *Forewarm) Serve(o simulate.Observation) float64 { return p.ServeAll(o)[0] }

// ServeAll are the values for the coming step under the policy and those beside it; good until the next call.
func (p *Forewarm) ServeAll(o simulate.Observation) []float64 {
	if p.forecaster == nil {
		p.forecaster = forecaster.New(p.config, forecaster.History{
			Series: forecast.Series{Start: o.At, Step: p.config.Step},
		})
	}
	if !math.IsNaN(o.Arrived) {
		p.newest = o.At
	}
	p.forecaster.Step(classify.Reading{Demand: float64(float32(o.Arrived))}) // As the server's store keeps it.
	p.forecaster.ValuesTo(p.values)
	age := o.At.Sub(p.newest) + p.config.Step // When it is served.
	for i, v := range p.values {
		switch {
		case age >= p.staleAfter():
			p.values[i] = math.NaN()
		case math.IsNaN(v) || age > forecaster.Late(p.config.Step):
			p.values[i] = p.forecaster.Fallback().Value
		}
	}
	return p.values
}

// Forecaster is what decides; nil before the first observation.
func (p *Forewarm) Forecaster() *forecaster.Forecaster { return p.forecaster }
