package ets

import "math"

// perfect bounds the mean square of the surprises from below, in units of the largest value squared (or of the mean,
// for shares of it): fits better than the digits of the data are all the same.
const perfect = 1e-30

// deviance is −2 times the logarithm of the likelihood at its best variance, less constants (Hyndman et al. 2008,
// eq. 5.3):
//
//	n log Σε² + 2 Σ log|k|,   ε = surprise/k
//
// with k = 1 for additive errors and k = μ for multiplicative ones.
type deviance struct {
	values []float64
	// count is the number of observations.
	count int
	// sum is Σε² of the last evaluation.
	sum float64
}

// additive is the deviance of additive errors.
func (d *deviance) additive(surprises []float64) float64 {
	sum := 0.0
	for _, a := range surprises {
		sum += a * a
	}
	d.sum = sum
	n := float64(d.count)
	return n * math.Log(math.Max(sum, n*perfect))
}

// multiplicative is the deviance of multiplicative errors, +Inf where a mean is not positive.
func (d *deviance) multiplicative(surprises []float64) float64 {
	const small, large = 1e-140, 1e140
	sum, logs, product := 0.0, 0.0, 1.0
	for i, y := range d.values {
		if math.IsNaN(y) {
			continue
		}
		a := surprises[i]
		mean := y - a
		if !(mean > small && mean < large) {
			return math.Inf(1)
		}
		e := a / mean
		sum += e * e
		// One logarithm for many factors.
		product *= mean
		if product < small || product > large {
			logs += math.Log(product)
			product = 1
		}
	}
	d.sum = sum
	n := float64(d.count)
	return n*math.Log(math.Max(sum, n*perfect)) + 2*(logs+math.Log(product))
}

// additivePull writes how the deviance of additive errors answers to each mean, μ: −∂/∂surprise.
func (d *deviance) additivePull(surprises, dst []float64) {
	n := float64(d.count)
	weight := -2 * n / math.Max(d.sum, n*perfect)
	for i, a := range surprises {
		dst[i] = weight * a
	}
}

// multiplicativePull is additivePull for multiplicative errors: with ε = (y − μ)/μ, the derivative to μ of
// n log Σε² + 2 Σ log μ is (2 − c ε(1 + ε))/μ, c = 2n/Σε².
func (d *deviance) multiplicativePull(surprises, dst []float64) {
	n := float64(d.count)
	weight := 2 * n / math.Max(d.sum, n*perfect)
	for i, y := range d.values {
		if math.IsNaN(y) {
			dst[i] = 0
			continue
		}
		mean := y - surprises[i]
		e := surprises[i] / mean
		dst[i] = (2 - weight*e*(1+e)) / mean
	}
}
