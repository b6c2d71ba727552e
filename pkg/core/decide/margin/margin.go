package margin

import (
	"math"
	"slices"
)

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
	// surge is the multiple of its spread under which the last value is late only where demand leaps.
	surge = 5
	// surgeHours of mean demand is what the lateness on other workloads weighs where surges are counted, and not hours.
	surgeHours = 8.0
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

// Surged is, of what was late of the last value under each multiple of the coarse grid, what came in surges: the demand
// that no margin saw coming.
func Surged(late []float64) float64 { return late[slices.Index(Coarse(), surge)] }

// Hour is what shadows did with the demand of an hour, in one unit.
type Hour struct {
	// Arrived is the demand; Surged is what came of it in surges (see Surged).
	Arrived, Surged float64
	// Late and Paid are, under each multiple, what was late and the capacity that was paid for.
	Late, Paid []float64
}

// Margin holds what was late, and what was paid, under each multiple of a grid, hour by hour.
type Margin struct {
	grid, prior []float64
	// surge is the share that surges on other workloads; 0 where hours are counted.
	surge float64

	late, paid      []float64
	arrived, surged float64
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

// BySurges counts surges instead of hours: whether a forecast that repeats the past knows when demand leaps. A quiet hour
// says nothing about that, and one leap that was known in advance says more than a quiet month. The surge is the share of
// the demand that surges on other workloads.
func BySurges(grid, prior []float64, surge float64) *Margin {
	m := New(grid, prior)
	m.surge = surge
	return m
}

// Add adds an hour.
func (m *Margin) Add(h Hour) {
	fade := math.Exp2(-1 / halfLife)
	for i := range m.late {
		m.late[i] = m.late[i]*fade + h.Late[i]
		m.paid[i] = m.paid[i]*fade + h.Paid[i]
		m.lates[i] += h.Late[i]
	}
	m.arrived = m.arrived*fade + h.Arrived
	m.surged = m.surged*fade + h.Surged
	m.total += h.Arrived
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
	c := Curve{Points: make([]Point, len(m.grid))}
	for i := range c.Points {
		p := Point{K: m.grid[i], Late: min(optimism*m.expected(i), 1), Cost: math.NaN()}
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

// expected is the share late under a multiple: what was seen, and with a weight what was on other workloads. Where surges
// are counted it is the share that surges, expected so, times what was late for each unit that surged.
func (m *Margin) expected(i int) float64 {
	if !(m.total > 0) {
		return m.prior[i]
	}
	hour := m.total / float64(m.hours)
	if m.surge > 0 {
		surges := shrunk(m.surged, m.surge, m.arrived, priorHours*hour)
		return surges * shrunk(m.late[i], m.prior[i]/m.surge, m.surged, surgeHours*hour*m.surge)
	}
	return shrunk(m.late[i], m.prior[i], m.arrived, priorHours*hour)
}

// shrunk is a part of a whole, drawn towards a share under a weight.
func shrunk(part, share, whole, weight float64) float64 {
	return (part + weight*share) / (whole + weight)
}
