package arima

// widest bounds the variance of the autoregressive part in units of the innovations'. The filter subtracts numbers of
// that size to arrive at 1, so six digits are left at the bound. An AR(1) reaches it at 1 − 5e-11.
const widest = 1e10

// process is an ARIMA in state-space form with unit innovations. Its state has r + d elements: Harvey's r = max(p, q+1)
// elements of the ARMA w, of which the first is w itself, then the last d values of the series.
type process struct {
	order Order
	r, m  int
	// ar and ma are φ and (1, θ), padded to r.
	ar, ma []float64
	// delta rebuilds a value from its predecessors: y(t) = w(t) + Σ delta[j]·y(t−1−j).
	delta []float64
	// partial are the partial autocorrelations of the AR part.
	partial []float64
	room    []float64
}

func newProcess(order Order) *process {
	r := max(order.P, order.Q+1)
	p := &process{
		order: order, r: r, m: r + order.D,
		ar: make([]float64, r), ma: make([]float64, r), partial: make([]float64, order.P),
		room: make([]float64, 2*(order.P+order.Q)+r*r+r),
	}
	switch order.D {
	case 1:
		p.delta = []float64{1}
	case 2:
		p.delta = []float64{2, -1}
	}
	p.ma[0] = 1
	return p
}

// setPartial sets the process to the partial autocorrelations of its AR part and of its inverted MA part. False says
// that it is too near to a unit root to be computed with.
func (p *process) setPartial(partials []float64) bool {
	copy(p.partial, partials[:p.order.P])
	fromPartial(p.partial, p.ar[:p.order.P], p.room)
	fromPartial(partials[p.order.P:], p.ma[1:1+p.order.Q], p.room)
	for i := 1; i <= p.order.Q; i++ {
		p.ma[i] = -p.ma[i]
	}
	return spread(p.partial) <= widest
}

// setCoefficients sets the process to φ and θ. False says that φ is not stationary, or too near to a unit root to be
// computed with.
func (p *process) setCoefficients(ar, ma []float64) bool {
	copy(p.ar, ar)
	copy(p.ma[1:], ma)
	return toPartial(ar, p.partial) && spread(p.partial) <= widest
}

// initialCovariance writes the stationary covariance of the state to cov (m × m): that of the ARMA part, with the last
// d values known.
//
// With φ(B)x = ε the ARMA is w = θ(B)x, and element i of the state is Σⱼ M[i][j]·x(t−j), where M[i][j] is the
// coefficient of B^(i+j) in φ≤i(B)·θ(B) − θ<i(B)·φ(B), the polynomials being cut off after degree i and before it. So
// the covariance is M Γ Mᵀ, Γ the autocovariances of x. Nothing is solved, and the result is a covariance by make.
func (p *process) initialCovariance(cov []float64) {
	clear(cov)
	r := p.r
	gamma, matrix, work := p.room[:r], p.room[r:r+r*r], p.room[r+r*r:]
	autocovariances(p.ar[:p.order.P], p.partial, gamma, work)
	for i := range r {
		for j := range r {
			matrix[i*r+j] = p.stateWeight(i, i+j)
		}
	}
	for i := range r {
		for j := 0; j <= i; j++ {
			v := toeplitzForm(matrix[i*r:(i+1)*r], matrix[j*r:(j+1)*r], gamma)
			cov[i*p.m+j], cov[j*p.m+i] = v, v
		}
	}
}

// stateWeight is the coefficient of B^degree in φ≤i(B)·θ(B) − θ<i(B)·φ(B).
func (p *process) stateWeight(i, degree int) float64 {
	sum := 0.0
	for k := 0; k <= i; k++ {
		sum += p.arPolynomial(k) * p.maPolynomial(degree-k)
		if k < i {
			sum -= p.maPolynomial(k) * p.arPolynomial(degree-k)
		}
	}
	return sum
}

// arPolynomial is the coefficient of B^k in φ(B) = 1 − φ₁B − … − φₚBᵖ.
func (p *process) arPolynomial(k int) float64 {
	switch {
	case k == 0:
		return 1
	case k <= p.r:
		return -p.ar[k-1]
	default:
		return 0
	}
}

func (p *process) maPolynomial(k int) float64 {
	if k < p.r {
		return p.ma[k]
	}
	return 0
}

// toeplitzForm is aᵀ Γ b with Γ[k][l] = gamma[|k−l|].
func toeplitzForm(a, b, gamma []float64) float64 {
	sum := 0.0
	for k, x := range a {
		if x == 0 {
			continue
		}
		for l, y := range b {
			sum += x * y * gamma[max(k-l, l-k)]
		}
	}
	return sum
}
