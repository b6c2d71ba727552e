package arima

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// widest bounds the variance of the autoregressive part, in units of the innovations' variance. The filter subtracts numbers of this size
// and arrives at 1, so six digits are left at the bound. An AR(1) reaches the bound with the coefficient 1 − 5e-11.
const widest = 1e10

// process is a seasonal ARIMA with unit innovations in state-space form. Its state has size elements. The first r = max(p + mP, q + mQ + 1)
// elements are Harvey's elements of the ARMA w, and the first of them is the forecast of the next w. The other elements are the last d + mD
// values of the series.
type process struct {
	period int
	// reach is r, and size is the number of elements of the state.
	reach, size int
	// ar is φ(B)Φ(Bᵐ), ma is θ(B)Θ(Bᵐ), and delta is (1−B)ᵈ(1−Bᵐ)ᴰ, each multiplied out. factors are the coefficients of the factors of ar
	// and ma.
	ar, ma, delta polynomial
	factors       Coefficients
	// partial are the partial autocorrelations of ar. variances are the autocovariances of w, as far as ar reaches back.
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

// setPartial sets the process to the partial autocorrelations of its four factors in this order: φ, Φ, θ and Θ. For θ and Θ, they are the
// partial autocorrelations of the inverted polynomials. setPartial returns false if the process is too close to a unit root for numerical
// computation.
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

// setCoefficients sets the process to the coefficients. It returns false if the autoregression is not stationary, or too close to a unit
// root for numerical computation.
func (p *process) setCoefficients(c Coefficients) bool {
	copy(p.factors.AR, c.AR)
	copy(p.factors.SAR, c.SAR)
	copy(p.factors.MA, c.MA)
	copy(p.factors.SMA, c.SMA)
	return p.expand()
}

// expand multiplies out the factors.
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

// expected returns the forecast of the next value of the series from a state.
func (p *process) expected(state []float64) float64 {
	sum := state[0]
	last := state[p.reach:]
	for i, lag := range p.delta.lags {
		sum -= p.delta.coef[i] * last[lag-1]
	}
	return sum
}

// move moves a state one step forward. w is the value of the ARMA at this step, and y is the value of the series.
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

// coast writes a state's forecasts of the next len(dst) steps to dst, and moves the state by these steps.
func (p *process) coast(state, dst []float64) {
	for i := range dst {
		dst[i] = p.expected(state)
		p.move(state, state[0], dst[i])
	}
}

// polynomial is 1 + Σ coef[i]·B^lags[i] in the backshift operator B. A seasonal polynomial for a day of minutes reaches back 1441 steps
// with only three terms, so the code runs over the terms where possible.
type polynomial struct {
	// lags ascend. coef has the coefficient of each lag.
	lags []int
	coef []float64
	// dense has the same coefficients by lag, from dense[0] = 1 to the longest lag.
	dense []float64
}

// newPolynomial returns a polynomial with memory for the product of a polynomial of degree short in B and a polynomial of degree long in
// Bᵖᵉʳⁱᵒᵈ.
func newPolynomial(short, long, period int) polynomial {
	var lags []int
	for j := range long + 1 {
		for i := range short + 1 {
			if lag := i + j*period; lag > 0 {
				lags = append(lags, lag)
			}
		}
	}
	slices.Sort(lags)
	lags = slices.Compact(lags)
	p := polynomial{lags: lags, coef: make([]float64, len(lags)), dense: make([]float64, short+long*period+1)}
	p.dense[0] = 1
	return p
}

// degree returns the longest lag.
func (p *polynomial) degree() int { return len(p.dense) - 1 }

// multiply sets p to (1 + Σ sign·short[i]·Bⁱ)(1 + Σ sign·long[j]·Bʲᵖᵉʳⁱᵒᵈ).
func (p *polynomial) multiply(short, long []float64, period int, sign float64) {
	clear(p.dense[1:])
	for i, a := range short {
		p.dense[i+1] += sign * a
	}
	for j, b := range long {
		at := (j + 1) * period
		p.dense[at] += sign * b
		for i, a := range short {
			p.dense[at+i+1] += a * b
		}
	}
	for i, lag := range p.lags {
		p.coef[i] = p.dense[lag]
	}
}

// differencing returns (1 − B)ᵈ (1 − Bᵖᵉʳⁱᵒᵈ)ᴰ.
func differencing(d, seasonal, period int) polynomial {
	dense := []float64{1}
	times := func(lag int) {
		out := append(slices.Clone(dense), make([]float64, lag)...)
		for i, c := range dense {
			out[i+lag] -= c
		}
		dense = out
	}
	for range d {
		times(1)
	}
	for range seasonal {
		times(period)
	}
	p := polynomial{dense: dense}
	for lag, c := range dense {
		if lag > 0 && c != 0 {
			p.lags, p.coef = append(p.lags, lag), append(p.coef, c)
		}
	}
	return p
}

// apply returns the polynomial applied to x. The result has degree fewer values than x.
func (p *polynomial) apply(x []float64) []float64 {
	n := p.degree()
	if len(x) <= n {
		return nil
	}
	out := slices.Clone(x[n:])
	for i, lag := range p.lags {
		for t := range out {
			out[t] += p.coef[i] * x[n+t-lag]
		}
	}
	return out
}

// seasonalLimit is the seasonal strength above which a seasonal difference improves forecasts (Wang, Smith & Hyndman 2006). The threshold
// was determined on the series of the M3 competition.
const seasonalLimit = 0.64

// levelCritical is the critical value of the KPSS test at 5 % (Kwiatkowski, Phillips, Schmidt & Shin 1992, table 1).
const levelCritical = 0.463

// differencesOf returns the number of differences, at most limit, after which the KPSS test no longer rejects at 5 % that the series is
// stationary around a level (Hyndman & Khandakar 2008). Tests whose null hypothesis is a unit root rarely reject it on short series.
func differencesOf(values []float64, limit int) int {
	rest := append([]float64(nil), values...)
	for d := range limit {
		if kpss(rest) <= levelCritical {
			return d
		}
		difference(rest)
	}
	return max(limit, 0)
}

// difference replaces each value with its difference from the value before. A gap results in two gaps.
func difference(values []float64) {
	for i := len(values) - 1; i > 0; i-- {
		values[i] -= values[i-1]
	}
	if len(values) > 0 {
		values[0] = math.NaN()
	}
}

// seasonalDifferencesOf returns the number of seasonal differences that a series needs: 1 if the strength of its season is above 0.64
// (Wang, Smith & Hyndman 2006), and otherwise 0. For fewer than two seasons, it is 0.
func seasonalDifferencesOf(values []float64, period int) int {
	parts, err := decompose.MSTL{Periods: []int{period}}.Decompose(values)
	if err != nil || parts.SeasonalStrength(0) <= seasonalLimit {
		return 0
	}
	return 1
}

// kpss returns the statistic of Kwiatkowski, Phillips, Schmidt & Shin (1992) for stationarity around a level: the squared partial sums of
// the residuals, divided by their long-run variance with Bartlett weights up to the lag 3√n/13. It is 0 for a constant series. Gaps are
// ignored.
func kpss(values []float64) float64 {
	scale := numeric.Scale(values)
	rest := make([]float64, 0, len(values))
	for _, v := range values {
		if numeric.Observed(v) {
			rest = append(rest, v/scale)
		}
	}
	if !standardise(rest) {
		return 0
	}
	n := float64(len(rest))
	partial, squares := 0.0, 0.0
	for _, v := range rest {
		partial += v
		squares += partial * partial
	}
	variance := 1.0
	lags := int(3 * math.Sqrt(n) / 13)
	for lag := 1; lag <= lags; lag++ {
		weight := 1 - float64(lag)/float64(lags+1)
		sum := 0.0
		for t := lag; t < len(rest); t++ {
			sum += rest[t] * rest[t-lag]
		}
		variance += 2 * weight * sum / n
	}
	return squares / (n * n * variance)
}

// standardise gives the values a mean of 0 and a variance of 1. It returns false if they do not vary.
func standardise(values []float64) bool {
	mean, variance := stat.PopMeanVariance(values, nil)
	deviation := math.Sqrt(variance)
	if !(deviation > negligible*math.Abs(mean)) {
		return false
	}
	for i := range values {
		values[i] = (values[i] - mean) / deviation
	}
	return true
}
