package arima

// gainAtStart writes to dst the covariances of the state of the coming step with the present w, and returns the variance
// of w, where nothing has been observed yet. With x the autoregression alone and w = θ(B)x, the autocovariances of x come
// from its partial autocorrelations (Levinson 1947, run backwards) without solving a system, which holds near a unit root;
// those of w are sums of them over θ. Element i of the state is −Σ a(k)·w(t−k+i) + Σ θ(k)·ε(t−k+i) over the lags k ≥ i,
// and the covariance of w with a past ε is the weight ψ of that.
func (p *process) gainAtStart(dst []float64) (variance float64) {
	long, wide := p.ar.degree(), p.ma.degree()
	n := long + wide + 1
	x, half, psi := p.room[:n], p.room[n:2*n], p.room[2*n:2*n+wide+1]
	p.autocovariances(x, p.room[3*n:3*n+2*long])
	for k := range half {
		half[k] = x[k]
		for i, lag := range p.ma.lags {
			half[k] += p.ma.coef[i] * x[max(k-lag, lag-k)]
		}
	}
	w := p.variances
	for k := range w {
		w[k] = half[k]
		for i, lag := range p.ma.lags {
			w[k] += p.ma.coef[i] * half[k+lag]
		}
	}
	p.weights(psi)
	clear(dst)
	for i, lag := range p.ar.lags {
		for j := range lag {
			dst[j] -= p.ar.coef[i] * w[lag-1-j]
		}
	}
	for i, lag := range p.ma.lags {
		for j := range lag {
			dst[j] += p.ma.coef[i] * psi[lag-1-j]
		}
	}
	return w[0]
}

// weights writes the weights ψ of the innovations in w, from that of the present, 1, to dst.
func (p *process) weights(psi []float64) {
	for k := range psi {
		psi[k] = 0
		if k < len(p.ma.dense) {
			psi[k] = p.ma.dense[k]
		}
		for i, lag := range p.ar.lags {
			if lag > k {
				break
			}
			psi[k] -= p.ar.coef[i] * psi[k-lag]
		}
	}
}

// autocovariances writes those of the autoregression alone, with unit innovations, at lags 0 … len(dst)−1. work is room
// for two autoregressions.
func (p *process) autocovariances(dst, work []float64) {
	n := len(p.partial)
	lower, room := work[:n], work[n:2*n]
	remaining := spread(p.partial)
	dst[0] = remaining
	for k := 1; k < len(dst); k++ {
		if k > n {
			dst[k] = 0
			for i, lag := range p.ar.lags {
				dst[k] -= p.ar.coef[i] * dst[k-lag]
			}
			continue
		}
		// The autocovariance at lag k is what the autoregression of order k−1 forecasts, plus its partial's share.
		r := p.partial[k-1]
		dst[k] = lagged(lower[:k-1], dst[:k]) + r*remaining
		remaining *= (1 - r) * (1 + r)
		copy(room, lower[:k-1])
		for j := range k - 1 {
			lower[j] = room[j] - r*room[k-2-j]
		}
		lower[k-1] = r
	}
}

// lagged is Σ c[j]·past[len(past)−1−j].
func lagged(c, past []float64) float64 {
	sum := 0.0
	for j, v := range c {
		sum += v * past[len(past)-1-j]
	}
	return sum
}
