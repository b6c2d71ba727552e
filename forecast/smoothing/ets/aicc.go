package ets

import "math"

// Likelihood is how well a model fits, and what it costs.
type Likelihood struct {
	// Log is the logarithm of the likelihood less its constants, as Hyndman et al. (2008, eq. 5.3) have it:
	// −n/2 log Σε² − Σ log|k|. It compares models of the family on one series, but not with those of other packages.
	Log float64
	// SSE is the sum of the squared one-step errors, in units of the series.
	SSE float64
	// Parameters counts what was estimated, the variance included, and Observations what it was estimated from.
	Parameters, Observations int
}

// AIC is Akaike's criterion, 2k − 2 log L.
func (l Likelihood) AIC() float64 { return 2*float64(l.Parameters) - 2*l.Log }

// AICc is AIC corrected for short series (Hurvich & Tsai 1989); +Inf where there are too few observations for it.
func (l Likelihood) AICc() float64 {
	k, n := float64(l.Parameters), float64(l.Observations)
	if n-k-1 <= 0 {
		return math.Inf(1)
	}
	return l.AIC() + 2*k*(k+1)/(n-k-1)
}
