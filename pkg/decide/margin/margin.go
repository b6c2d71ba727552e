package margin

import "math"

// Grid are the multiples that are tried.
func Grid() []float64 {
	return []float64{0, .2, .4, .6, .8, 1, 1.2, 1.4, 1.7, 2, 2.4, 2.8, 3.3, 4, 5, 6.5, 8.5, 11}
}

// Coarse are the multiples that are tried to judge a candidate that does not serve as a rule.
func Coarse() []float64 { return []float64{0, .5, 1, 1.7, 2.8, 5, 11} }

const (
	// halfLife of what was late, in hours.
	halfLife = 480.0
	// priorHours of mean demand, a fortnight, is what the lateness on other workloads weighs.
	priorHours = 336.0
	// optimism is how many times as much was late on recorded demand as the past of a multiple had said: a multiple is chosen
	// where that past was kind.
	optimism = 4.0 / 3
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

// Margin holds what was late, and what was paid, under each multiple of a grid, hour by hour.
type Margin struct {
	grid, prior []float64
	late, paid  []float64
	arrived     float64
	// all of the demand and of what was late, without fading.
	total float64
	lates []float64
	hours int
}

// New begins with the prior: the share late under each multiple of the grid on other workloads (see Prior).
func New(grid, prior []float64) *Margin {
	n := len(grid)
	return &Margin{
		grid: grid, prior: prior,
		late: make([]float64, n), paid: make([]float64, n), lates: make([]float64, n),
	}
}

// Hour adds an hour: the demand that arrived, of it what was late under each multiple, and the capacity that was paid for,
// in one unit.
func (m *Margin) Hour(arrived float64, late, paid []float64) {
	fade := math.Exp2(-1 / halfLife)
	for i := range m.late {
		m.late[i] = m.late[i]*fade + late[i]
		m.paid[i] = m.paid[i]*fade + paid[i]
		m.lates[i] += late[i]
	}
	m.arrived = m.arrived*fade + arrived
	m.total += arrived
	m.hours++
}

// Hours are how many were added.
func (m *Margin) Hours() int { return m.hours }

// Young says that too little was seen to go by: the multiple is a careful one.
func (m *Margin) Young() bool { return m.hours < carefulHours }

// Lates is the share of all the demand so far that was late under each multiple: no prior, no fading. It is what priors are
// made of.
func (m *Margin) Lates() []float64 {
	out := make([]float64, len(m.lates))
	for i, late := range m.lates {
		if m.total > 0 {
			out[i] = late / m.total
		}
	}
	return out
}

// Curve is what is expected under each multiple now: never more late under a larger one.
func (m *Margin) Curve() Curve {
	weight := 1.0
	if m.hours > 0 {
		weight = priorHours * m.total / float64(m.hours)
	}
	c := Curve{Points: make([]Point, len(m.grid))}
	for i := range c.Points {
		p := Point{K: m.grid[i], Late: m.prior[i], Cost: math.NaN()}
		if m.arrived+weight > 0 {
			p.Late = (m.late[i] + weight*m.prior[i]) / (m.arrived + weight)
		}
		p.Late = min(optimism*p.Late, 1)
		if i > 0 {
			p.Late = min(p.Late, c.Points[i-1].Late)
		}
		if m.arrived > 0 {
			p.Cost = m.paid[i] / m.arrived
		}
		c.Points[i] = p
	}
	c.Most = c.worth()
	if m.Young() {
		c.Least, c.Most = careful, m.grid[len(m.grid)-1]
	}
	return c
}
