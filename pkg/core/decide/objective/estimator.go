package objective

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// FineGrid holds the multipliers that are simulated.
func FineGrid() []float64 {
	return []float64{0, .2, .4, .6, .8, 1, 1.2, 1.4, 1.7, 2, 2.4, 2.8, 3.3, 4, 5, 6.5, 8.5, 11}
}

// coarseGrid holds the multipliers that are simulated for candidates that are rarely selected.
func coarseGrid() []float64 { return []float64{0, .5, 1, 1.7, 2.8, 5, 11} }

const (
	// week is the half-life of observed lateness, and the most that the prior weighs, in hours.
	week = 168.0
	// priorLate is the weight of the prior in hours of late demand, at the busiest hour's. Where others are late for a quarter of their
	// demand that is two hours: what is frequent is known soon, and what is rare is not.
	priorLate = 0.5
	// optimism corrects the selection bias: a multiplier is selected because its past was good. On recorded demand, with it, as much is
	// late in the mean as was asked for.
	optimism = 1.5
	// priorBadHours and optimismBadHours are the same for bad hours, which are rarer and come together. The lighter prior spares calm
	// workloads most of what the higher optimism costs. With half of it, a calm workload is unprepared for the day when it turns wild.
	priorBadHours, optimismBadHours = 0.25, 2.2
	// unpricedMultiplier is served at a price before any cost is known.
	unpricedMultiplier = 2.0
	// minLate keeps logarithms finite.
	minLate = 1e-6
	// negligibleLate is the lateness below which differences do not count.
	negligibleLate = 1e-4
	// maxCorrection is what a target that is stricter than the objective may cost, as a multiple of what the objective costs.
	maxCorrection = 1.1
	// minPayoff is how much more, as a ratio of logarithms, lateness must fall than cost rises for a larger multiplier to pay.
	minPayoff = 1.5
)

// hour is what simulated autoscalers did in an hour, in one unit.
type hour struct {
	// Arrived is the demand.
	Arrived float64
	// Late demand and Paid capacity under each multiplier.
	Late, Paid []float64
}

// badDemand is the demand of an hour that counts towards bad hours, under each multiplier: all of it from an hour of which twice as much
// is late as makes it bad, and less in proportion. Whether an hour is just bad is luck, so a step learns less from the same hours.
func badDemand(arrived float64, late []float64) []float64 {
	const all = sim.BadShare * 2
	out := make([]float64, len(late))
	for i, v := range late {
		out[i] = min(v/all, arrived)
	}
	return out
}

// caution is how an estimate is corrected for what was not seen.
type caution struct {
	// prior is the weight of the prior, in hours of what counts as late.
	prior float64
	// optimism is what the estimate is multiplied by.
	optimism float64
}

func cautionOfLate() caution { return caution{prior: priorLate, optimism: optimism} }

func cautionOfBadHours() caution { return caution{prior: priorBadHours, optimism: optimismBadHours} }

// estimator expects the lateness and the cost of each multiplier of a grid, from the hours observed and a prior.
type estimator struct {
	grid, prior []float64
	caution     caution

	// Sums that fade within weeks.
	late, paid []float64
	arrived    float64
	// busiest is the highest demand of an hour; it fades within days.
	busiest float64
	// Sums that do not fade.
	totalArrived float64
	totalLate    []float64
	hours        int
}

// newEstimator starts from a prior: the share late under each multiplier of the grid on other workloads (see Priors).
func newEstimator(grid, prior []float64, of caution) *estimator {
	n := len(grid)
	return &estimator{
		grid: grid, prior: prior, caution: of,
		late: make([]float64, n), paid: make([]float64, n), totalLate: make([]float64, n),
	}
}

// add records an hour.
func (m *estimator) add(h hour) {
	fade := math.Exp2(-1 / week)
	for i := range m.late {
		m.late[i] = m.late[i]*fade + h.Late[i]
		m.paid[i] = m.paid[i]*fade + h.Paid[i]
		m.totalLate[i] += h.Late[i]
	}
	m.arrived = m.arrived*fade + h.Arrived
	m.busiest = math.Max(m.busiest*math.Exp2(-1.0/day), h.Arrived)
	m.totalArrived += h.Arrived
	m.hours++
}

// learning reports that too few hours were recorded.
func (m *estimator) learning() bool { return m.hours < day }

// lateShares is the share of all demand that was late under each multiplier, without prior and fading. Priors are made of it.
func (m *estimator) lateShares() []float64 {
	out := make([]float64, len(m.totalLate))
	for i, late := range m.totalLate {
		if m.totalArrived > 0 {
			out[i] = late / m.totalArrived
		}
	}
	return out
}

// curve is what is expected under each multiplier. Lateness never rises with the multiplier: where less was late under a small one,
// as when a larger value falls within an autoscaler's tolerance, that was luck.
func (m *estimator) curve() Curve {
	c := Curve{Points: make([]Point, len(m.grid))}
	for i := range c.Points {
		p := Point{Multiplier: m.grid[i], Late: min(m.caution.optimism*m.expectedLate(i), 1), RelativeCost: math.NaN()}
		if m.arrived > 0 {
			p.RelativeCost = m.paid[i] / m.arrived
		}
		c.Points[i] = p
	}
	for i := len(c.Points) - 2; i >= 0; i-- {
		c.Points[i].Late = max(c.Points[i].Late, c.Points[i+1].Late)
	}
	c.Max = c.maxWorthwhile()
	return c
}

// expectedLate is the share late under a multiplier: late demand comes as a Poisson process, whose rate has a gamma prior with
// the mean of other workloads (Gelman et al., Bayesian Data Analysis, 2013, section 2.6). The prior weighs as late demand, not
// as time: workloads differ by orders of magnitude, and a calm one is known by the cheap multipliers within hours. In units of the
// busiest hour, what was seen of a small demand says little of a large one.
func (m *estimator) expectedLate(i int) float64 {
	p := m.prior[i]
	weight := m.busiest * math.Min(m.caution.prior/p, week)
	if !(weight > 0) {
		return p
	}
	return (m.late[i] + weight*p) / (m.arrived + weight)
}
