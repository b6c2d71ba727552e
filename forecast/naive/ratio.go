package naive

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// leastIndex and mostIndex bound the seasonal indices, so that dividing by one and multiplying by another stays finite.
const (
	leastIndex = 1e-6
	mostIndex  = 1e6
)

// seasonal90 is the competition's test of a season: the autocorrelation at the period lies outside Bartlett's 90 %
// limits, 1.645·√((1 + 2Σr²)/n) over the shorter lags. It wants three seasons.
func seasonal90(values []float64, period int) bool {
	if len(values) < 3*period {
		return false
	}
	deviations := centred(values)
	variance := product(deviations, deviations)
	if variance == 0 {
		return false
	}
	squares := 0.0
	for lag := 1; lag < period; lag++ {
		r := product(deviations[lag:], deviations[:len(deviations)-lag]) / variance
		squares += r * r
	}
	r := product(deviations[period:], deviations[:len(deviations)-period]) / variance
	return math.Abs(r) > 1.645*math.Sqrt((1+2*squares)/float64(len(values)))
}

// centred are the values' deviations from their mean, 0 for a gap, in units of the largest value.
func centred(values []float64) []float64 {
	largest := 0.0
	for _, v := range values {
		if v > largest {
			largest = v
		}
	}
	var seen []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			seen = append(seen, v/largest)
		}
	}
	mean := stat.Mean(seen, nil)
	out := make([]float64, len(values))
	for i, v := range values {
		if !math.IsNaN(v) {
			out[i] = v/largest - mean
		}
	}
	return out
}

func product(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// ratioIndices are the seasonal indices by ratio to moving average, with mean 1; the first belongs to the first value.
func ratioIndices(values []float64, period int) []float64 {
	sums, counts := make([]float64, period), make([]float64, period)
	half := period / 2
	for i := half; i < len(values)-half; i++ {
		if ratio := values[i] / movingAverage(values, i, period); !math.IsNaN(ratio) {
			sums[i%period] += ratio
			counts[i%period]++
		}
	}
	for i := range sums {
		sums[i] /= counts[i]
	}
	mean := stat.Mean(sums, nil)
	for i := range sums {
		sums[i] /= mean
	}
	return sums
}

// movingAverage is the mean over one period centred at i; one of even length has half of either end.
func movingAverage(values []float64, i, period int) float64 {
	half := period / 2
	sum := 0.0
	for k := -half; k <= half; k++ {
		weight := 1.0
		if period%2 == 0 && (k == -half || k == half) {
			weight = 0.5
		}
		sum += weight / float64(period) * values[i+k]
	}
	return sum
}

// positive reports whether every observation is above 0.
func positive(values []float64) bool {
	for _, v := range values {
		if v <= 0 {
			return false
		}
	}
	return true
}

// usable reports whether every index is there and of moderate size.
func usable(indices []float64) bool {
	for _, index := range indices {
		if !(index > leastIndex && index < mostIndex) {
			return false
		}
	}
	return true
}
