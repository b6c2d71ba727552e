package diagnose

import (
	"math"

	"github.com/forewarm/forewarm/forecast/internal/units"
)

// ACF is the autocorrelation at the lags 0 to lags: the mean product of centred values a lag apart, over the variance.
// Sums at every lag are divided by the number of all observations, which makes the estimate a correlation function of
// some process (Brockwell & Davis 1991, section 7.2). At lags beyond the series it is 0, as it is everywhere but at lag 0
// for a series that does not vary.
func ACF(values []float64, lags int) []float64 {
	out := make([]float64, max(lags, 0)+1)
	out[0] = 1
	centred, n := centre(values)
	if n == 0 {
		return out
	}
	for lag := 1; lag < min(len(out), len(centred)); lag++ {
		out[lag] = product(centred, lag) / n
	}
	return out
}

// centre is a copy with mean 0 and variance 1 and the gaps where they were, and the number of observations: 0 where they
// do not vary.
func centre(values []float64) (centred []float64, n float64) {
	there := observed(values)
	n = float64(len(there))
	if !standardise(there) {
		return nil, 0
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.NaN()
		if units.Observed(v) {
			out[i], there = there[0], there[1:]
		}
	}
	return out, n
}

// PACF is the partial autocorrelation at the lags 1 to lags, element 0 that of lag 1: what is left of the correlation
// when the steps between have had their say. It is Durbin and Levinson's recursion on the ACF (Brockwell & Davis 1991,
// section 5.2).
func PACF(values []float64, lags int) []float64 {
	r := ACF(values, lags)
	out := make([]float64, len(r)-1)
	phi, before := make([]float64, len(r)), make([]float64, len(r))
	variance := 1.0
	for k := 1; k < len(r); k++ {
		sum := r[k]
		for j := 1; j < k; j++ {
			sum -= before[j] * r[k-j]
		}
		if variance <= negligible {
			break // the past determines the series
		}
		phi[k] = sum / variance
		for j := 1; j < k; j++ {
			phi[j] = before[j] - phi[k]*before[k-j]
		}
		variance *= 1 - phi[k]*phi[k]
		out[k-1] = phi[k]
		copy(before, phi[:k+1])
	}
	return out
}

// LjungBox is the statistic of Ljung & Box (1978) on the autocorrelations at the lags 1 to lags. On independent values
// it is about χ² distributed with as many degrees of freedom; on the residuals of a model, with as many fewer as the
// model has parameters.
func LjungBox(values []float64, lags int) float64 {
	n := float64(len(observed(values)))
	sum := 0.0
	for i, r := range ACF(values, lags)[1:] {
		if left := n - float64(i+1); left > 0 {
			sum += r * r / left
		}
	}
	return n * (n + 2) * sum
}
