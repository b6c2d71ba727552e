package diagnose

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

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
	within := out[:min(len(out), len(centred))]
	if len(within)*len(centred) > direct {
		spectral(within, centred)
	} else {
		for lag := range within {
			within[lag] = product(centred, lag)
		}
	}
	floats.Scale(1/n, within)
	out[0] = 1
	return out
}

// direct is the number of products up to which they are summed one by one.
const direct = 1 << 19

// spectral writes the sums of products at the lags 0 to len(dst)−1 by way of the periodogram, in n·log n time. Gaps add
// nothing.
func spectral(dst, centred []float64) {
	n := 1 << bits.Len(uint(len(centred)+len(dst)))
	padded := make([]float64, n)
	for i, v := range centred {
		if !math.IsNaN(v) {
			padded[i] = v
		}
	}
	transform := fourier.NewFFT(n)
	spectrum := transform.Coefficients(nil, padded)
	for i, c := range spectrum {
		spectrum[i] = complex(real(c)*real(c)+imag(c)*imag(c), 0)
	}
	copy(dst, transform.Sequence(padded, spectrum))
	floats.Scale(1/float64(n), dst)
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
// section 5.2). It is 0 from the lag on by which the past determines the series.
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
		phi[k] = sum / variance
		if !(math.Abs(phi[k]) < 1) {
			break // the past determines the series, but for rounding
		}
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
