package arima_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
)

// The figures are R's, ARMAtoMA and ARMAacf with ar = (1, −¼), ma = 1; they are exact: Brockwell & Davis (1991), example
// 3.2.1 and 3.3.
func TestTheoreticalMoments(t *testing.T) {
	ar, ma := []float64{1, -0.25}, []float64{1}
	for i, want := range []float64{2, 1.75, 1.25, 0.8125, 0.5, 0.296875, 0.171875, 0.09765625} {
		within(t, fmt.Sprintf("weight %d", i+1), arima.PsiWeights(ar, ma, 8)[i], want, 1e-15)
	}
	acf, err := arima.Autocorrelations(ar, ma, 6)
	if err != nil {
		t.Fatal(err)
	}
	for lag, want := range []float64{1, 0.875, 0.625, 0.40625, 0.25, 0.1484375, 0.0859375} {
		within(t, fmt.Sprintf("lag %d", lag), acf[lag], want, 1e-14)
	}
	// A moving average is uncorrelated beyond its order: ρ₁ = (θ₁ + θ₁θ₂)/(1 + θ₁² + θ₂²).
	acf, err = arima.Autocorrelations(nil, []float64{0.5, 0.4}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for lag, want := range []float64{1, 0.7 / 1.41, 0.4 / 1.41, 0, 0} {
		within(t, fmt.Sprintf("lag %d", lag), acf[lag], want, 1e-15)
	}
	if _, err := arima.Autocorrelations([]float64{1}, nil, 3); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("a random walk: %v, want %v", err, forecast.ErrParameter)
	}
}
