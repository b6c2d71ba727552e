package theta

import (
	"math"

	"github.com/forewarm/forewarm/forecast/diagnose"
)

// significant is the 90 % point of the normal distribution of an autocorrelation, on two sides.
const significant = 1.645

// indices are the factors of a season by classical decomposition, their mean 1: the mean over the seasons of each slot's
// ratio to the moving average of a season. Without a season they are a single 1.
func indices(values []float64, period int) []float64 {
	none := []float64{1}
	if period < 2 || len(values) < 2*period+1 || !positive(values) || !seasonal(values, period) {
		return none
	}
	sums, counts := make([]float64, period), make([]float64, period)
	half := period / 2
	for i := half; i < len(values)-half; i++ {
		if ratio := values[i] / centred(values[i-half:i+half+1], period); !math.IsNaN(ratio) {
			sums[i%period] += ratio
			counts[i%period]++
		}
	}
	mean := 0.0
	for i := range sums {
		sums[i] /= counts[i]
		mean += sums[i] / float64(period)
	}
	for i := range sums {
		sums[i] /= mean
		if !(sums[i] > 1e-6) {
			return none // a slot without a ratio, or hardly any demand in it
		}
	}
	return sums
}

func positive(values []float64) bool {
	for _, v := range values {
		if v <= 0 {
			return false
		}
	}
	return true
}

// seasonal says whether the autocorrelation at the period is more than chance, by Bartlett's variance.
func seasonal(values []float64, period int) bool {
	acf := diagnose.ACF(values, period)
	squares := 1.0
	for _, r := range acf[1:period] {
		squares += 2 * r * r
	}
	return math.Abs(acf[period]) > significant*math.Sqrt(squares/float64(len(values)))
}

// centred is the moving average over a window of one season, whose ends count half where the period is even.
func centred(window []float64, period int) float64 {
	sum := 0.0
	for _, v := range window {
		sum += v
	}
	if period%2 == 0 {
		sum -= (window[0] + window[len(window)-1]) / 2
	}
	return sum / float64(period)
}
