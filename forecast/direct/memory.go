package direct

import "math"

// memory is what the regressions look at: the newest two observations and means of the past, in the unit of the fit.
type memory struct {
	last, previous float64
	means          [len(halfLives)]mean
}

// halfLives are those of the means, in steps: enough to tell a jump that stays from noise about a level.
var halfLives = [...]float64{2, 10, 60} //nolint:gochecknoglobals // An array cannot be a constant.

// width is the number of regressors.
const width = len(memory{}.means) + 1

// mean is an exponentially weighted mean of what came, from the first observation on.
type mean struct {
	sum, weight float64
}

// observe takes the coming observation.
func (m *memory) observe(z float64) {
	if m.means[0].weight == 0 {
		m.last = z
	}
	m.previous, m.last = m.last, z
	for i := range m.means {
		keep := keeps[i]
		m.means[i].sum = keep*m.means[i].sum + (1-keep)*z
		m.means[i].weight = keep*m.means[i].weight + (1 - keep)
	}
}

var keeps = [...]float64{math.Exp2(-1.0 / 2), math.Exp2(-1.0 / 10), math.Exp2(-1.0 / 60)}

// rowTo writes the regressors, all of them differences: their weights, drawn to 0 by the ridge, are drawn to the forecast
// of the last value.
func (m *memory) rowTo(row []float64) {
	row[0] = m.previous - m.last
	before := m.last
	for i, e := range m.means {
		value := e.sum / e.weight
		row[i+1] = value - before
		before = value
	}
}
