package arima

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
)

// PsiWeights are ψ₁ … ψₙ of the ARMA with the coefficients: the effect of an innovation on the values after it, which its
// moving average of infinite order shows (Box & Jenkins 1976, ch. 3).
func PsiWeights(ar, ma []float64, n int) []float64 {
	p := newProcess(Order{P: len(ar), Q: len(ma)})
	p.setCoefficients(Coefficients{AR: ar, MA: ma})
	psi := make([]float64, max(n, 0)+1)
	p.weights(psi)
	return psi[1:]
}

// Autocorrelations are those of the ARMA with the coefficients, at lags 0 … n. An autoregression that is not stationary has
// none: ErrParameter.
func Autocorrelations(ar, ma []float64, n int) ([]float64, error) {
	p := newProcess(Order{P: len(ar), Q: len(ma)})
	if !p.setCoefficients(Coefficients{AR: ar, MA: ma}) {
		return nil, fmt.Errorf("autocorrelations: AR coefficients %v are explosive, or too near to a unit root: %w",
			ar, forecast.ErrParameter)
	}
	p.gainAtStart(make([]float64, p.reach))
	out := make([]float64, max(n, 0)+1)
	copy(out, p.variances)
	psi := make([]float64, p.ma.degree()+1)
	p.weights(psi)
	for k := len(p.variances); k < len(out); k++ {
		for i, lag := range p.ar.lags {
			out[k] -= p.ar.coef[i] * out[k-lag]
		}
		for i, lag := range p.ma.lags {
			if lag >= k {
				out[k] += p.ma.coef[i] * psi[lag-k]
			}
		}
	}
	for k := len(out) - 1; k >= 0; k-- {
		out[k] /= out[0]
	}
	return out, nil
}
