package direct

import "math"

// memory is what the regressions look at: the newest two observations, and means of the past that forget at different
// speeds, in the unit of the fit.
type memory struct {
	last, previous float64
	means          [3]mean
}

// width is the number of regressors: one for each mean, and one for the previous observation.
const width = len(memory{}.means) + 1

// The half-lives of the means, in steps, are 2, 10 and 60: enough to tell a jump that stays from noise about a level. More
// of them, running medians and maxima, the volatility and yesterday's change were tried, and none lowered the errors on
// most traces.
const (
	keepShort  = 1 / math.Sqrt2
	keepMiddle = 0.93303299153680741 // 2^(−1/10)
	keepLong   = 0.98851402035289614 // 2^(−1/60)
)

// mean is an exponentially weighted mean of what came, from the first observation on.
type mean struct {
	sum, weight float64
}

func (m *mean) add(z, keep float64) {
	m.sum = keep*m.sum + (1-keep)*z
	m.weight = keep*m.weight + (1 - keep)
}

// observe takes the coming observation.
func (m *memory) observe(z float64) {
	if m.means[0].weight == 0 {
		m.last = z // The first one has none before it.
	}
	m.previous, m.last = m.last, z
	m.means[0].add(z, keepShort)
	m.means[1].add(z, keepMiddle)
	m.means[2].add(z, keepLong)
}

// rowTo writes the regressors. They are all differences: coefficients of 0, which the ridge draws to, are the forecast of
// the last value, and a series that is shifted or scaled has its forecasts shifted and scaled.
func (m *memory) rowTo(row []float64) {
	row[0] = m.previous - m.last
	before := m.last
	for i, e := range m.means {
		value := e.sum / e.weight
		row[i+1] = value - before
		before = value
	}
}
