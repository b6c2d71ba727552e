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

// toPartial is the inverse of fromPartial. False means that the autoregression is not stationary. work is room for two
// autoregressions.
func toPartial(coefficients, partial, work []float64) bool {
	n := len(coefficients)
	current, previous := work[:n], work[n:2*n]
	copy(current, coefficients)
	for k := n - 1; k >= 0; k-- {
		reflection := current[k]
		if !(math.Abs(reflection) < 1) {
			return false
		}
		partial[k] = reflection
		if reflection == 0 {
			continue
		}
		copy(previous, current[:k])
		share := 1 / ((1 - reflection) * (1 + reflection))
		for j := range k {
			current[j] = (previous[j] + reflection*previous[k-1-j]) * share
		}
	}
	return true
}

// stationary reports whether all roots of 1 − sign·(c₁z + … + cₙzⁿ) lie outside the circle of the radius.
func stationary(coefficients []float64, sign, radius float64) bool {
	scaled := make([]float64, len(coefficients))
	power := sign
	for i, c := range coefficients {
		power *= radius
		scaled[i] = c * power
	}
	return toPartial(scaled, make([]float64, len(scaled)), make([]float64, 2*len(scaled)))
}

// spread is the variance of the autoregression with unit innovations that has the partials.
func spread(partial []float64) float64 {
	variance := 1.0
	for _, r := range partial {
		variance /= (1 - r) * (1 + r)
	}
	return variance
}
