package policy

import (
	"github.com/forewarm/forewarm/pkg/core/trailing"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Model serves the highest point that a model forecasts for the window ahead, and never less than is observed. Until
// there is enough history for a fit it serves what is observed. What the margin is worth beyond the points is for the
// HPA's target to say, as it is for those who serve a forecast today.
type Model struct {
	observed *Observed
	ahead    *windowpeak.Model
}

// NewModel has seen nothing yet.
func NewModel(c windowpeak.ModelConfig) (*Model, error) {
	m, err := windowpeak.NewModel(c)
	if err != nil {
		return nil, err
	}
	return &Model{observed: NewObserved(), ahead: m}, nil
}

// Serve is the larger of what is observed and the highest forecast for the window.
func (p *Model) Serve(o simulate.Observation) float64 {
	return trailing.Most(p.observed.Serve(o), p.ahead.Push(o.Arrived))
}
