package policy

import (
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// Forewarm serves what forewarm decides.
type Forewarm struct {
	objective *outcome.Objective
}

// NewForewarm has seen nothing yet.
func NewForewarm(c outcome.Config) (*Forewarm, error) {
	o, err := outcome.New(c)
	return &Forewarm{o}, err
}

// Serve is the value for the coming step.
func (f *Forewarm) Serve(o simulate.Observation) float64 {
	f.objective.Step(o.Demand, o.Arrived)
	return f.objective.Value()
}

// Objective is what decides.
func (f *Forewarm) Objective() *outcome.Objective { return f.objective }
