package verdict

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the probability that an interval contains the real value.
const confidence = 0.9

// interval returns the interval of the share that Forewarm saves. It uses the jackknife over days (Tukey 1958), which needs neither a clock
// nor random numbers, so all replicas get the same result. Draws of the start times add their variance. With fewer than minDays days, the
// interval is unbounded.
//
// The quantile is from Student's t-distribution. The degrees of freedom are the number of days minus one.
func (c *Comparison) interval(forewarm, hpa []float64) (low, high float64) {
	n := len(forewarm)
	if n < minDays || len(hpa) != n {
		return math.Inf(-1), math.Inf(1)
	}
	cost, of := floats.Sum(forewarm), floats.Sum(hpa)
	without := make([]float64, n)
	for i := range without {
		without[i] = saved(cost-forewarm[i], of-hpa[i])
	}
	variance := stat.PopVariance(without, nil) * float64(n-1) // (n−1)/n times the sum of squares.
	if len(c.Draws) > 1 {
		drawn := make([]float64, len(c.Draws))
		for i, d := range c.Draws {
			drawn[i] = saved(d.Forewarm, d.HPA)
		}
		variance += stat.Variance(drawn, nil)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2) //nolint:mnd // Both sides.
	half := t * math.Sqrt(variance)
	mean := saved(cost, of)
	return mean - half, mean + half
}
