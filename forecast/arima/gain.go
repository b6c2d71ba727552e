package arima

import (
	"math"
	"slices"
)

const (
	// converged is how near to that of an innovation the variance of the coming value must be for the gain to be frozen.
	converged = 1e-9
	// rounding is the share of the first variance that the last digits of the recursion can add to later ones.
	rounding = 4e-16
)

// gain is the gain of the Kalman filter of an ARMA that is observed at every step, from a start at which nothing is known.
//
// The covariance of the state itself is never formed. As the start is stationary, the covariances of two steps differ by
// a matrix of rank one (Morf, Sidhu & Kailath 1974; Pearlman 1980 for ARMA), and what is left is a rotation of two vectors
// a step, at a cost of r where the covariance's own recursion costs r². With l the coming element of the second vector,
// ρ = l/F is the partial autocorrelation of w at that lag, F(1 − ρ²) the next variance: nothing is subtracted that could
// cancel.
//
// The variances fall towards 1. Where one has arrived there, all later ones have, and the gain is that of the innovations
// form, (φ + θ).
type gain struct {
	*process
	// with are the covariances of the next state with the present surprise; next is the change that is to come.
	with, next []float64
	// variance is that of the coming w given all before it.
	variance float64
	// enough is the variance at which the gain is frozen.
	enough float64
	age    int
	steady bool
}

func newGain(p *process) gain {
	return gain{process: p, with: make([]float64, p.reach), next: make([]float64, p.reach)}
}

// begin puts the gain at the first step.
func (g *gain) begin() {
	g.variance = g.gainAtStart(g.with)
	copy(g.next, g.with)
	g.enough = 1 + math.Max(converged, rounding*g.variance)
	g.age, g.steady = 0, false
	g.settle()
}

// freeze puts the gain where it ends after many steps.
func (g *gain) freeze() {
	clear(g.with)
	for i, lag := range g.ar.lags {
		g.with[lag-1] -= g.ar.coef[i]
	}
	for i, lag := range g.ma.lags {
		g.with[lag-1] += g.ma.coef[i]
	}
	g.variance, g.steady = 1, true
}

// settle freezes the gain where it has arrived. An autoregression has when it has seen as many values as it has terms.
func (g *gain) settle() {
	if g.variance <= g.enough || g.ma.degree() == 0 && g.age >= g.ar.degree() {
		g.freeze()
	}
}

// advance moves the gain one step on.
func (g *gain) advance() {
	if g.steady {
		return
	}
	g.age++
	first := g.next[0]
	copy(g.next, g.next[1:])
	g.next[len(g.next)-1] = 0
	for i, lag := range g.ar.lags {
		g.next[lag-1] -= g.ar.coef[i] * first
	}
	rho := first / g.variance
	g.variance *= (1 - rho) * (1 + rho)
	rotate(g.with, g.next, rho)
	g.settle()
}

// effect adds to a state what one deviation of the present innovation does to it.
func (g *gain) effect(state []float64) {
	deviation := math.Sqrt(g.variance)
	for i, v := range g.with {
		state[i] += v / deviation
	}
	if len(state) > g.reach {
		state[g.reach] += deviation
	}
}

// clone is a gain that moves on by itself.
func (g *gain) clone() gain {
	out := *g
	out.with, out.next = slices.Clone(g.with), slices.Clone(g.next)
	return out
}

// rotate takes a and b to a − ρb and b − ρa.
func rotate(a, b []float64, rho float64) {
	b = b[:len(a)]
	for i, v := range a {
		w := b[i]
		a[i] = v - rho*w
		b[i] = w - rho*v
	}
}
