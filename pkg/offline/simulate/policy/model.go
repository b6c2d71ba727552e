package policy

import (
	"github.com/forewarm/forewarm/pkg/core/trailing"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Model serves the highest point forecast of a model for the window ahead, and never less than the observed demand.
// Until there is enough history for a fit it serves the observed demand. The headroom is in the HPA's target.
type Model struct {
	observed *Observed
	ahead    *windowpeak.BlockModel
}

// NewModel has seen nothing yet.
func NewModel(c windowpeak.BlockModelConfig) (*Model, error) {
	m, err := windowpeak.NewBlockModel(c)
	if err != nil {
		return nil, err
	}
	return &Model{observed: NewObserved(), ahead: m}, nil
}

// Serve is the larger of what is observed and the highest forecast for the window.
func (p *Model) Serve(o simulate.Observation) float64 {
	return trailing.MaxKnown(p.observed.Serve(o), p.ahead.Push(o.Arrived))
}
