package ensemble

import (
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// member is a candidate with its model, once fitted, and how its forecasts turned out.
type member struct {
	candidate
	fitted forecast.Fitted
	err    error
	// median means that it has no model: it is the median of the others.
	median bool
	// path is the forecast of the steps up to the horizon, as it stands.
	path []float64
}

func (m *member) fit(s forecast.Series) {
	if m.median {
		return
	}
	fitted, err := m.candidate.fit(s)
	if err != nil {
		m.err = err
		return
	}
	m.fitted, m.err = fitted, nil
}

// advance takes the newest observation.
func (m *member) advance(y float64) {
	if m.fitted != nil {
		m.fitted.Update(y)
	}
}

// updatePath updates the member's forecast. Without a model it is NaN, which is never scored.
func (m *member) updatePath() {
	if m.median {
		return // It is updated after all others.
	}
	if m.fitted == nil {
		for i := range m.path {
			m.path[i] = math.NaN()
		}
		return
	}
	m.fitted.PointsTo(m.path)
}
