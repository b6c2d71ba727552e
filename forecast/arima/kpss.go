package arima

import "math"

// kpssCritical is the 5 % point of the KPSS statistic for stationarity around a level (Kwiatkowski, Phillips, Schmidt &
// Shin 1992, table 1).
const kpssCritical = 0.463

// kpss is the statistic of Kwiatkowski, Phillips, Schmidt & Shin (1992) for stationarity around a level: the partial
// sums of the centred series, squared, over their long-run variance with Bartlett weights up to lag 3√n/13. What is
// missing is left out. It is 0 for a constant series.
func kpss(values []float64) float64 {
	mean, deviation := moments(values)
	if deviation <= negligible*math.Abs(mean) {
		return 0
	}
	centred := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			centred = append(centred, (v-mean)/deviation)
		}
	}
	n := float64(len(centred))
	partial, squares := 0.0, 0.0
	for _, v := range centred {
		partial += v
		squares += partial * partial
	}
	variance := 1.0
	lags := int(3 * math.Sqrt(n) / 13)
	for lag := 1; lag <= lags; lag++ {
		sum := 0.0
		for t := lag; t < len(centred); t++ {
			sum += centred[t] * centred[t-lag]
		}
		variance += 2 * (1 - float64(lag)/float64(lags+1)) * sum / n
	}
	return squares / (n * n * variance)
}

// differencesFor is the number of differences, at most limit, after which the KPSS test no longer rejects that the
// series is stationary around a level.
func differencesFor(values []float64, limit int) int {
	for d := range limit {
		if kpss(differences(values, d)) <= kpssCritical {
			return d
		}
	}
	return limit
}

// differences takes the d-th differences; the first d are NaN.
func differences(values []float64, d int) []float64 {
	out := append([]float64(nil), values...)
	for range d {
		for i := len(out) - 1; i > 0; i-- {
			out[i] -= out[i-1]
		}
		if len(out) > 0 {
			out[0] = math.NaN()
		}
	}
	return out
}
