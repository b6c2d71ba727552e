package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// season is the mean effect of each slot of a season on the values without their trend, and by how many standard errors
// the correlation of values a season apart exceeds 0: by none, where they correlate as much over one of the shorter
// seasons that are known, of which this is a multiple. Those have changed then, and the change is no season.
func season(values []float64, period int, known []int) (effect []float64, deviate float64) {
	rest, first := aboveTrend(values, period)
	effect = make([]float64, period)
	counts := make([]float64, period)
	for i, v := range rest {
		effect[(i+first)%period] += v
		counts[(i+first)%period]++
	}
	floats.Div(effect, counts)
	unexplained := make([]float64, len(rest))
	for i, v := range rest {
		unexplained[i] = v - effect[(i+first)%period]
	}
	temper(rest)
	r := apart(rest, period)
	if math.IsNaN(r) {
		return effect, 0 // nothing but trend
	}
	for _, shorter := range known {
		if period%shorter == 0 && apart(rest, shorter) >= r {
			return effect, 0
		}
	}
	return effect, fisher(r-shared(period), independent(unexplained, len(rest)-period, period))
}

// apart is the correlation of values a lag apart.
func apart(values []float64, lag int) float64 {
	return stat.Correlation(values[lag:], values[:len(values)-lag], nil)
}

// tempered is the size in medians of the sizes beyond which values count as this large only: as four deviations of a
// Gaussian do. Two spikes a season apart are no season.
const tempered = 6

// temper bounds the sizes of values.
func temper(values []float64) {
	sizes := make([]float64, len(values))
	for i, v := range values {
		sizes[i] = math.Abs(v)
	}
	slices.Sort(sizes)
	limit := tempered * sizes[len(sizes)/2]
	if limit == 0 {
		return
	}
	for i, v := range values {
		values[i] = min(max(v, -limit), limit)
	}
}

// shared is the correlation that an even moving average gives to independent values a period apart: both windows hold
// half of the value between them.
func shared(period int) float64 {
	if period%2 == 1 {
		return 0
	}
	m := float64(period)
	return 1 / (4 * m * m) / ((1-1/m)*(1-1/m) + (m-2)/(m*m) + 1/(2*m*m))
}

// aboveTrend are the values less a moving average over one period around each, from index first on: half a period is
// lost at either end.
func aboveTrend(values []float64, period int) (rest []float64, first int) {
	half := period / 2
	share := 1 / float64(period)
	rest = make([]float64, len(values)-2*half)
	sum := floats.Sum(values[:2*half+1])
	for i := range rest {
		mean := sum
		if period%2 == 0 {
			mean -= (values[i] + values[i+2*half]) / 2 // the ends of an even window count half
		}
		rest[i] = values[i+half] - mean*share
		if i+2*half+1 < len(values) {
			sum += values[i+2*half+1] - values[i]
		}
	}
	return rest, half
}

// independent is how many independent pairs a number of pairs of values are worth, by Bartlett's (1946) variance of a
// correlation between series that have the autocorrelation of noise.
func independent(noise []float64, pairs, lags int) float64 {
	squares := 1.0
	for _, rho := range ACF(noise, min(lags, len(noise)-1))[1:] {
		squares += 2 * rho * rho
	}
	return float64(pairs) / squares
}

// fisher is how many standard errors a correlation of n pairs lies above 0, on the scale where it is nearly Gaussian
// (Fisher 1921): atanh(r)·√(n−3). Fewer pairs than four and a half still count a little, so that a season that repeats
// exactly is one.
func fisher(r, n float64) float64 {
	const certain = 1 - 1e-12
	return math.Atanh(min(max(r, -certain), certain)) * math.Sqrt(max(n-3, 1.5))
}
