package diagnose

import (
	"math"

	"github.com/forewarm/forewarm/forecast/decompose"
)

// seasonalLimit is the seasonal strength beyond which a seasonal difference improves forecasts (Wang, Smith & Hyndman
// 2006; the threshold was set on the M3 competition's series).
const seasonalLimit = 0.64

// Differences is the number of differences, at most limit, after which KPSS no longer rejects at 5 % that the series is
// stationary around a level (Hyndman & Khandakar 2008).
func Differences(values []float64, limit int) int {
	rest := append([]float64(nil), values...)
	for d := range limit {
		if statistic, critical := KPSS(rest, Level); statistic <= critical {
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

// SeasonalDifferences is the number of seasonal differences that a series wants, 0 or 1: 1 where the strength of its
// season exceeds 0.64 (Wang, Smith & Hyndman 2006). Fewer than two seasons want none.
func SeasonalDifferences(values []float64, period int) int {
	parts, err := decompose.MSTL{Periods: []int{period}}.Decompose(values)
	if err != nil || parts.SeasonalStrength(0) <= seasonalLimit {
		return 0
	}
	return 1
}
