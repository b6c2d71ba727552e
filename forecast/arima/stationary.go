package arima

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// seasonalLimit is the seasonal strength beyond which a seasonal difference improves forecasts (Wang, Smith & Hyndman
// 2006; the threshold was set on the M3 competition's series).
const seasonalLimit = 0.64

// levelCritical is the 5 % point of KPSS (Kwiatkowski, Phillips, Schmidt & Shin 1992, table 1).
const levelCritical = 0.463

// differencesOf is the number of differences, at most limit, after which KPSS no longer rejects at 5 % that the series is
// stationary around a level (Hyndman & Khandakar 2008). Tests whose null hypothesis is a unit root rarely reject it on
// short series.
func differencesOf(values []float64, limit int) int {
	rest := append([]float64(nil), values...)
	for d := range limit {
		if kpss(rest) <= levelCritical {
			return d
		}
		difference(rest)
	}
	return max(limit, 0)
}

// difference replaces each value by its distance from the one before; a gap costs two.
func difference(values []float64) {
	for i := len(values) - 1; i > 0; i-- {
		values[i] -= values[i-1]
	}
	if len(values) > 0 {
		values[0] = math.NaN()
	}
}

// seasonalDifferencesOf is the number of seasonal differences that a series wants, 0 or 1: 1 where the strength of its
// season exceeds 0.64 (Wang, Smith & Hyndman 2006). Fewer than two seasons want none.
func seasonalDifferencesOf(values []float64, period int) int {
	parts, err := decompose.MSTL{Periods: []int{period}}.Decompose(values)
	if err != nil || parts.SeasonalStrength(0) <= seasonalLimit {
		return 0
	}
	return 1
}

// kpss is the statistic of Kwiatkowski, Phillips, Schmidt & Shin (1992) for stationarity around a level: the partial sums
// of what is left around it, squared, over their long-run variance with Bartlett weights up to lag 3√n/13. It is 0 for a
// series that does not move at all. Gaps are left out.
func kpss(values []float64) float64 {
	scale := numeric.Scale(values)
	rest := make([]float64, 0, len(values))
	for _, v := range values {
		if numeric.Observed(v) {
			rest = append(rest, v/scale)
		}
	}
	if !standardise(rest) {
		return 0
	}
	n := float64(len(rest))
	partial, squares := 0.0, 0.0
	for _, v := range rest {
		partial += v
		squares += partial * partial
	}
	variance := 1.0
	lags := int(3 * math.Sqrt(n) / 13)
	for lag := 1; lag <= lags; lag++ {
		weight := 1 - float64(lag)/float64(lags+1)
		sum := 0.0
		for t := lag; t < len(rest); t++ {
			sum += rest[t] * rest[t-lag]
		}
		variance += 2 * weight * sum / n
	}
	return squares / (n * n * variance)
}

// standardise gives the values a mean of 0 and a variance of 1; false means that they do not vary.
func standardise(values []float64) bool {
	mean, variance := stat.PopMeanVariance(values, nil)
	deviation := math.Sqrt(variance)
	if !(deviation > negligible*math.Abs(mean)) {
		return false
	}
	for i := range values {
		values[i] = (values[i] - mean) / deviation
	}
	return true
}
