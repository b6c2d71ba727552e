package arima

import "slices"

// polynomial is 1 + Σ coef[i]·B^lags[i] in the backshift operator B. A seasonal polynomial of a day of minutes reaches
// back 1441 steps with three terms: everything that can run over the terms does.
type polynomial struct {
	// lags ascend; coef goes with them.
	lags []int
	coef []float64
	// dense holds the same coefficients by lag, from dense[0] = 1 to the longest lag.
	dense []float64
}

// newPolynomial makes room for the product of a polynomial of degree short in B and one of degree long in Bᵖᵉʳⁱᵒᵈ.
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

// degree is the longest lag.
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

// differencing is (1 − B)ᵈ (1 − Bᵖᵉʳⁱᵒᵈ)ᴰ.
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

// apply is the polynomial applied to x from its degree on: degree fewer values than x.
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
