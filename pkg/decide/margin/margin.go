package margin

import "math"

// Grid are the multiples that are tried.
func Grid() []float64 {
	return []float64{0, .2, .4, .6, .8, 1, 1.2, 1.4, 1.7, 2, 2.4, 2.8, 3.3, 4, 5, 6.5, 8.5, 11}
}

const (
	// halfLife of what was late, in hours.
	halfLife = 240.0
	// priorHours of mean demand is what the lateness on other workloads weighs.
	priorHours = 96.0
	// carefulHours at the start, the multiple is at least careful.
	carefulHours = 24
	careful      = 2.0
	// leastLate keeps logarithms finite.
	leastLate = 1e-6
)

// Margin holds what was late under each multiple of the grid, hour by hour.
type Margin struct {
	grid, prior []float64
	late        []float64
	arrived     float64
	// total demand and hours so far, without fading.
	total float64
	hours int
	share []float64 // scratch
}

// New begins with the prior: the share late under each multiple of the grid on other workloads (see Prior).
func New(prior []float64) *Margin {
	grid := Grid()
	return &Margin{grid: grid, prior: prior, late: make([]float64, len(grid)), share: make([]float64, len(grid))}
}

// Hour adds an hour: the demand that arrived, and of it what was late under each multiple, in one unit.
func (m *Margin) Hour(arrived float64, late []float64) {
	fade := math.Exp2(-1 / halfLife)
	for i := range m.late {
		m.late[i] = m.late[i]*fade + late[i]
	}
	m.arrived = m.arrived*fade + arrived
	m.total += arrived
	m.hours++
}

// Late is the share of the demand that is expected to be late under each multiple of the grid: never more under a larger
// one. The slice is good until the next call.
func (m *Margin) Late() []float64 {
	weight := 1.0
	if m.hours > 0 {
		weight = priorHours * m.total / float64(m.hours)
	}
	for i := range m.share {
		m.share[i] = m.prior[i]
		if m.arrived+weight > 0 {
			m.share[i] = (m.late[i] + weight*m.prior[i]) / (m.arrived + weight)
		}
		if i > 0 {
			m.share[i] = min(m.share[i], m.share[i-1])
		}
	}
	return m.share
}

// K is the multiple for an objective, the share that may be late: between two of the grid by a line over the logarithm of
// the lateness. Where even the largest is later it is that one; met is then false.
func (m *Margin) K(objective float64) (k float64, met bool) {
	k, met = m.k(objective)
	if m.hours < carefulHours {
		k = max(k, careful)
	}
	return k, met
}

func (m *Margin) k(objective float64) (k float64, met bool) {
	late := m.Late()
	for i, share := range late {
		if share > objective {
			continue
		}
		if i == 0 {
			return m.grid[0], true
		}
		above, below := math.Log(late[i-1]+leastLate), math.Log(share+leastLate)
		part := (above - math.Log(objective+leastLate)) / (above - below)
		return m.grid[i-1] + min(max(part, 0), 1)*(m.grid[i]-m.grid[i-1]), true
	}
	return m.grid[len(m.grid)-1], false
}
