package arima

// widest bounds the variance of the autoregressive part in units of the innovations'. The filter subtracts numbers of
// that size to arrive at 1, so six digits are left at the bound. An AR(1) reaches it at 1 − 5e-11.
const widest = 1e10

// process is a seasonal ARIMA with unit innovations in state-space form. Its state has size elements: Harvey's
// r = max(p + mP, q + mQ + 1) elements of the ARMA w, of which the first is what is expected of the coming w, then the
// last d + mD values of the series.
type process struct {
	period int
	// reach is r, size the number of elements of the state.
	reach, size int
	// ar is φ(B)Φ(Bᵐ), ma θ(B)Θ(Bᵐ) and delta (1−B)ᵈ(1−Bᵐ)ᴰ, multiplied out; factors are the first two's coefficients.
	ar, ma, delta polynomial
	factors       Coefficients
	// partial are the partial autocorrelations of ar, variances the autocovariances of w as far as ar reaches back.
	partial, variances []float64
	room               []float64
}

func newProcess(order Order) *process {
	s := order.Seasonal
	p := &process{
		period: s.Period,
		ar:     newPolynomial(order.P, s.P, s.Period),
		ma:     newPolynomial(order.Q, s.Q, s.Period),
		delta:  differencing(order.D, s.D, s.Period),
		factors: Coefficients{
			AR: make([]float64, order.P), SAR: make([]float64, s.P),
			MA: make([]float64, order.Q), SMA: make([]float64, s.Q),
		},
	}
	long, wide := p.ar.degree(), p.ma.degree()
	p.reach = max(long, wide+1)
	p.size = p.reach + p.delta.degree()
	p.partial = make([]float64, long)
	p.variances = make([]float64, long+1)
	p.room = make([]float64, 3*(long+wide+1)+2*long+2*(order.coefficients()+1))
	return p
}

// setPartial sets the process to the partial autocorrelations of its four factors, one after the other: φ, Φ, θ and Θ,
// the latter two as those of the inverted polynomials. False means that it is too near to a unit root to be computed
// with.
func (p *process) setPartial(partials []float64) bool {
	c := p.factors
	for i, factor := range [][]float64{c.AR, c.SAR, c.MA, c.SMA} {
		n := len(factor)
		fromPartial(partials[:n], factor, p.room)
		partials = partials[n:]
		if i < 2 {
			continue
		}
		for j := range factor {
			factor[j] = -factor[j]
		}
	}
	return p.expand()
}

// setCoefficients sets the process to the coefficients. False means that the autoregression is not stationary, or too
// near to a unit root to be computed with.
func (p *process) setCoefficients(c Coefficients) bool {
	copy(p.factors.AR, c.AR)
	copy(p.factors.SAR, c.SAR)
	copy(p.factors.MA, c.MA)
	copy(p.factors.SMA, c.SMA)
	return p.expand()
}

// expand multiplies the factors out.
func (p *process) expand() bool {
	period := p.period
	p.ar.multiply(p.factors.AR, p.factors.SAR, period, -1)
	p.ma.multiply(p.factors.MA, p.factors.SMA, period, 1)
	n := p.ar.degree()
	whole := p.room[:n]
	for i, c := range p.ar.dense[1:] {
		whole[i] = -c
	}
	return toPartial(whole, p.partial, p.room[n:3*n]) && spread(p.partial) <= widest
}

// expected is the coming value of the series as a state sees it.
func (p *process) expected(state []float64) float64 {
	sum := state[0]
	last := state[p.reach:]
	for i, lag := range p.delta.lags {
		sum -= p.delta.coef[i] * last[lag-1]
	}
	return sum
}

// move takes a state one step on: w is what the autoregression is to take for the step, y the value of the series.
func (p *process) move(state []float64, w, y float64) {
	x, last := state[:p.reach], state[p.reach:]
	copy(x, x[1:])
	x[len(x)-1] = 0
	for i, lag := range p.ar.lags {
		x[lag-1] -= p.ar.coef[i] * w
	}
	if len(last) > 0 {
		copy(last[1:], last)
		last[0] = y
	}
}

// coast writes what a state expects of the coming len(dst) steps, and moves it there.
func (p *process) coast(state, dst []float64) {
	for i := range dst {
		dst[i] = p.expected(state)
		p.move(state, state[0], dst[i])
	}
}
