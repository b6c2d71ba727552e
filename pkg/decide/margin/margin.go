package margin

import "math"

// Grid are the multiples that are tried.
func Grid() []float64 {
	return []float64{0, .2, .4, .6, .8, 1, 1.2, 1.4, 1.7, 2, 2.4, 2.8, 3.3, 4, 5, 6.5, 8.5, 11}
}

const (
	// halfLife of what was late, in hours.
	halfLife = 480.0
	// priorHours of mean demand is what the lateness on other workloads weighs.
	priorHours = 240.0
	// carefulHours at the start, the multiple is at least careful.
	carefulHours = 24
	careful      = 2.0
	// leastLate keeps logarithms finite.
	leastLate = 1e-6
	// leastWorth is the lateness below which nobody counts.
	leastWorth = 1e-4
	// thrift is by how much more, as a ratio, lateness must fall than cost rises for a larger multiple to pay.
	thrift = 1.5
)

// Margin holds what was late under each multiple of the grid, hour by hour.
type Margin struct {
	grid, prior []float64
	late, paid  []float64
	arrived     float64
	// total demand and hours so far, without fading.
	total float64
	hours int
	share []float64 // scratch
}

// New begins with the prior: the share late under each multiple of the grid on other workloads (see Prior).
func New(prior []float64) *Margin {
	grid := Grid()
	return &Margin{
		grid:  grid,
		prior: prior,
		late:  make([]float64, len(grid)),
		paid:  make([]float64, len(grid)),
		share: make([]float64, len(grid)),
	}
}

// Hour adds an hour: the demand that arrived, of it what was late under each multiple, and the capacity that was paid for,
// in one unit.
func (m *Margin) Hour(arrived float64, late, paid []float64) {
	fade := math.Exp2(-1 / halfLife)
	for i := range m.late {
		m.late[i] = m.late[i]*fade + late[i]
		m.paid[i] = m.paid[i]*fade + paid[i]
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
// the lateness. It is no larger than what pays (see worth); met says whether the objective is expected to be met.
func (m *Margin) K(objective float64) (k float64, met bool) {
	k, met = m.enough(objective)
	if m.hours < carefulHours {
		return max(k, careful), met
	}
	if most := m.worth(); k > most {
		return most, false
	}
	return k, met
}

// enough is the multiple that meets an objective, the largest of the grid where none does.
func (m *Margin) enough(objective float64) (k float64, met bool) {
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

// worth is the largest multiple that pays: beyond it lateness falls by less than thrift times what the cost rises by, both
// as ratios. Where bursts are faster than pods start, margin buys next to nothing however large it is, and all of a fleet's
// idle hours would go to the workload that gains least from them.
func (m *Margin) worth() float64 {
	best, least := len(m.grid)-1, math.Inf(1)
	for i, share := range m.Late() {
		if !(m.paid[i] > 0) {
			return m.grid[best]
		}
		if loss := math.Log(share+leastWorth) + thrift*math.Log(m.paid[i]); loss < least {
			best, least = i, loss
		}
	}
	return m.grid[best]
}
