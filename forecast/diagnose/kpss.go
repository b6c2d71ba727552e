package diagnose

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Around is what a series is stationary around under the hypothesis of KPSS.
type Around int

// The hypotheses: a constant level, or a straight line.
const (
	Level Around = iota
	Line
)

// The 5 % points of the statistic (Kwiatkowski, Phillips, Schmidt & Shin 1992, table 1).
const (
	levelCritical = 0.463
	lineCritical  = 0.146
)

// negligible is the spread, as a share of the values' magnitude, below which they are constant but for rounding.
const negligible = 1e-13

// KPSS is the statistic of Kwiatkowski, Phillips, Schmidt & Shin (1992) for stationarity around a level or a line, and
// the critical value beyond which it is rejected at 5 %: the partial sums of what is left around it, squared, over
// their long-run variance with Bartlett weights up to lag 3√n/13. It is 0 for a series that does not move at all.
func KPSS(values []float64, around Around) (statistic, critical float64) {
	rest := observed(values)
	critical = levelCritical
	if around == Line {
		critical = lineCritical
		if !detrend(rest) {
			return 0, critical
		}
	}
	if !standardise(rest) {
		return 0, critical
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
		variance += 2 * weight * product(rest, lag) / n
	}
	return squares / (n * n * variance), critical
}

// observed are the values that are there, scaled to at most 1.
func observed(values []float64) []float64 {
	scale := units.Scale(values)
	out := make([]float64, 0, len(values))
	for _, v := range values {
		if units.Observed(v) {
			out = append(out, v/scale)
		}
	}
	return out
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

// detrend subtracts the straight line of least squares; false means that nothing else was there.
func detrend(values []float64) bool {
	steps := make([]float64, len(values))
	for i := range steps {
		steps[i] = float64(i)
	}
	if len(values) < 3 {
		return false
	}
	constant, slope := stat.LinearRegression(steps, values, nil, false)
	largest := 0.0
	for i := range values {
		values[i] -= constant + slope*steps[i]
		largest = max(largest, math.Abs(values[i]))
	}
	return largest > negligible
}

// product is the sum of the products of values a lag apart; a pair with a gap adds nothing.
func product(values []float64, lag int) float64 {
	sum := 0.0
	for t := lag; t < len(values); t++ {
		if p := values[t] * values[t-lag]; !math.IsNaN(p) {
			sum += p
		}
	}
	return sum
}
