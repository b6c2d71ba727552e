package headroom

import (
	"math"
	"slices"
)

// FineGrid holds the multipliers that are simulated.
func FineGrid() []float64 {
	return []float64{0, .2, .4, .6, .8, 1, 1.2, 1.4, 1.7, 2, 2.4, 2.8, 3.3, 4, 5, 6.5, 8.5, 11}
}

// CoarseGrid holds the multipliers that are simulated for candidates that are rarely selected.
func CoarseGrid() []float64 { return []float64{0, .5, 1, 1.7, 2.8, 5, 11} }

const (
	// halfLife of observed lateness, in hours.
	halfLife = 480.0
	// priorHours of mean demand, two weeks, are the weight of the prior.
	priorHours = 336.0
	// surgeMultiplier is the multiplier at which the last value is late only in surges.
	surgeMultiplier = 5
	// surgeHours of mean demand are the weight of the prior where surges are counted instead of hours.
	surgeHours = 8.0
	// optimism corrects the selection bias: a multiplier is selected because its past was good, and on recorded demand its
	// lateness was 4/3 of that past.
	optimism = 4.0 / 3
	// carefulHours is how long the multiplier is at least carefulMultiplier. Of a week's repetition it takes most of a week,
	// weekend included, to judge it: on recorded demand without weekdays, two good days were luck. With the day that a
	// selection takes at least, a history of two weeks is enough.
	carefulHours      = 24
	carefulWeekHours  = 132
	carefulMultiplier = 2.0
	// leastLate keeps logarithms finite.
	leastLate = 1e-6
	// negligibleLate is the lateness below which differences do not count.
	negligibleLate = 1e-4
	// minPayoff is how much more, as a ratio of logarithms, lateness must fall than cost rises for a larger multiplier to pay.
	minPayoff = 1.5
)

// LateInSurges is the late demand of the last value's coarse grid at surgeMultiplier: demand that no headroom covers.
func LateInSurges(late []float64) float64 { return late[slices.Index(CoarseGrid(), surgeMultiplier)] }

// Hour is what simulated autoscalers did in an hour, in one unit.
type Hour struct {
	// Arrived is the demand, and Surged the part that came in surges (see LateInSurges).
	Arrived, Surged float64
	// Late demand and Paid capacity under each multiplier.
	Late, Paid []float64
}

// Estimator expects the lateness and the cost of each multiplier of a grid, from the hours observed and a prior.
type Estimator struct {
	grid, prior []float64
	// surgeShare is the share of the demand in surges on other workloads; 0 if hours are counted.
	surgeShare float64

	// Sums that fade with halfLife.
	late, paid      []float64
	arrived, surged float64
	// Sums that do not fade.
	totalArrived float64
	totalLate    []float64
	hours        int
	carefulHours int
}

// NewEstimator starts from a prior: the share late under each multiplier of the grid on other workloads (see Priors).
func NewEstimator(grid, prior []float64) *Estimator {
	n := len(grid)
	return &Estimator{
		grid: grid, prior: prior,
		late: make([]float64, n), paid: make([]float64, n), totalLate: make([]float64, n), carefulHours: carefulHours,
	}
}

// NewSurgeEstimator counts surges instead of hours, for a candidate that repeats the past: a quiet hour is no evidence that it
// forecasts surges, and one forecast surge is stronger evidence than a quiet month. surge is the share of the demand in surges
// on other workloads.
func NewSurgeEstimator(grid, prior []float64, surge float64) *Estimator {
	m := NewEstimator(grid, prior)
	m.surgeShare = surge
	return m
}

// ForWeek is the estimator of a candidate that repeats the last week.
func (m *Estimator) ForWeek() *Estimator {
	m.carefulHours = carefulWeekHours
	return m
}

// Add records an hour.
func (m *Estimator) Add(h Hour) {
	fade := math.Exp2(-1 / halfLife)
	for i := range m.late {
		m.late[i] = m.late[i]*fade + h.Late[i]
		m.paid[i] = m.paid[i]*fade + h.Paid[i]
		m.totalLate[i] += h.Late[i]
	}
	m.arrived = m.arrived*fade + h.Arrived
	m.surged = m.surged*fade + h.Surged
	m.totalArrived += h.Arrived
	m.hours++
}

// Hours is how many hours were recorded.
func (m *Estimator) Hours() int { return m.hours }

// Learning reports that too few hours were recorded: the multiplier is at least the careful one.
func (m *Estimator) Learning() bool { return m.hours < m.carefulHours }

// LateShares is the share of all demand that was late under each multiplier, without prior and fading. Priors are made of it.
func (m *Estimator) LateShares() []float64 {
	out := make([]float64, len(m.totalLate))
	for i, late := range m.totalLate {
		if m.totalArrived > 0 {
			out[i] = late / m.totalArrived
		}
	}
	return out
}

// Curve is what is expected under each multiplier; lateness never rises with the multiplier.
func (m *Estimator) Curve() Curve {
	c := Curve{Points: make([]Point, len(m.grid))}
	for i := range c.Points {
		p := Point{Multiplier: m.grid[i], Late: min(optimism*m.expectedLate(i), 1), RelativeCost: math.NaN()}
		if i > 0 {
			p.Late = min(p.Late, c.Points[i-1].Late)
		}
		if m.arrived > 0 {
			p.RelativeCost = m.paid[i] / m.arrived
		}
		c.Points[i] = p
	}
	c.Max = c.maxWorthwhile()
	if m.Learning() {
		c.Min, c.Max = carefulMultiplier, m.grid[len(m.grid)-1]
	}
	return c
}

// expectedLate is the share late under a multiplier: the observed share, shrunk to the prior. Where surges are counted it is
// the expected share in surges times the expected lateness of a surge.
func (m *Estimator) expectedLate(i int) float64 {
	if !(m.totalArrived > 0) {
		return m.prior[i]
	}
	hour := m.totalArrived / float64(m.hours)
	if m.surgeShare > 0 {
		surges := shrunk(m.surged, m.surgeShare, m.arrived, priorHours*hour)
		return surges * shrunk(m.late[i], m.prior[i]/m.surgeShare, m.surged, surgeHours*hour*m.surgeShare)
	}
	return shrunk(m.late[i], m.prior[i], m.arrived, priorHours*hour)
}

// shrunk is part/whole, drawn towards a share with a weight.
func shrunk(part, share, whole, weight float64) float64 {
	return (part + weight*share) / (whole + weight)
}
