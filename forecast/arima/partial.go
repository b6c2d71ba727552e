package arima

import "math"

// fromPartial turns partial autocorrelations into the coefficients of the autoregression that has them (Durbin 1960;
// Monahan 1984). Any partials within (−1, 1) give a stationary autoregression. len(coefficients) = len(partial); work
// is room of that size.
func fromPartial(partial, coefficients, work []float64) {
	for k, reflection := range partial {
		copy(work, coefficients[:k])
		for j := range k {
			coefficients[j] = work[j] - reflection*work[k-1-j]
		}
		coefficients[k] = reflection
	}
}

// toPartial is the inverse of fromPartial. False says that the autoregression is not stationary.
func toPartial(coefficients, partial []float64) bool {
	n := len(coefficients)
	current := append([]float64(nil), coefficients...)
	previous := make([]float64, n)
	for k := n - 1; k >= 0; k-- {
		reflection := current[k]
		if !(math.Abs(reflection) < 1) {
			return false
		}
		partial[k] = reflection
		copy(previous, current[:k])
		for j := range k {
			current[j] = (previous[j] + reflection*previous[k-1-j]) / (1 - reflection*reflection)
		}
	}
	return true
}

// stationary says whether all roots of 1 − c₁z − … − cₙzⁿ lie outside the circle of the radius.
func stationary(coefficients []float64, radius float64) bool {
	scaled := make([]float64, len(coefficients))
	power := 1.0
	for i, c := range coefficients {
		power *= radius
		scaled[i] = c * power
	}
	return toPartial(scaled, make([]float64, len(scaled)))
}

// spread is the variance of the autoregression with unit innovations that has the partials.
func spread(partial []float64) float64 {
	variance := 1.0
	for _, r := range partial {
		variance /= (1 - r) * (1 + r)
	}
	return variance
}

// autocovariances writes to dst the autocovariances at lags 0 … len(dst)−1 of the autoregression with unit innovations
// that has the coefficients and the partials (Levinson 1947, run backwards). room is two slices' worth of len(partial).
func autocovariances(coefficients, partial, dst, room []float64) {
	p := len(partial)
	variance := spread(partial)
	dst[0] = variance
	lower, work := room[:p], room[p:2*p]
	remaining := variance
	for k := 1; k < len(dst); k++ {
		if k > p {
			dst[k] = lagged(coefficients, dst[:k])
			continue
		}
		// The autocovariance at lag k is what the autoregression of order k−1 forecasts, plus its partial's share.
		dst[k] = lagged(lower[:k-1], dst[:k]) + partial[k-1]*remaining
		remaining *= (1 - partial[k-1]) * (1 + partial[k-1])
		copy(work, lower[:k-1])
		for j := range k - 1 {
			lower[j] = work[j] - partial[k-1]*work[k-2-j]
		}
		lower[k-1] = partial[k-1]
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
