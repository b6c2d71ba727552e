package windowpeak

import (
	"math"
	"time"
)

// quantileLevels are the probabilities of a Quantiles, dense in the upper tail, which decisions read.
var quantileLevels = [...]float64{ //nolint:gochecknoglobals // A constant table.
	0.05, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995,
}

// LowestQuantile and HighestQuantile bound the quantiles that may be asked for.
const (
	LowestQuantile  = 0.05
	HighestQuantile = 0.995
)

// Quantiles is a distribution at the QuantileLevels, never decreasing.
type Quantiles [len(quantileLevels)]float64

// QuantileLevels are the probabilities of a Quantiles, ascending.
func QuantileLevels() []float64 { return quantileLevels[:] }

// At is the p-quantile, linear between levels; outside [LowestQuantile, HighestQuantile] it is that of the nearer end.
func (q *Quantiles) At(p float64) float64 {
	if p <= quantileLevels[0] {
		return q[0]
	}
	for i := 1; i < len(quantileLevels); i++ {
		if p <= quantileLevels[i] {
			share := (p - quantileLevels[i-1]) / (quantileLevels[i] - quantileLevels[i-1])
			return q[i-1] + share*(q[i]-q[i-1])
		}
	}
	return q[len(q)-1]
}

// Window is the distribution of the maximum of demand over (t, t + Horizon].
type Window struct {
	Horizon   time.Duration
	Quantiles Quantiles
}

// QuantilesAtHorizon are the quantiles for a horizon between those of the windows, which ascend: linear in the square root of
// the horizon, as the spread of a random walk grows. ok is false outside their range.
func QuantilesAtHorizon(windows []Window, horizon time.Duration) (q Quantiles, ok bool) {
	for i, w := range windows {
		switch {
		case w.Horizon == horizon:
			return w.Quantiles, true
		case w.Horizon < horizon:
			continue
		case i == 0:
			return Quantiles{}, false
		}
		return interpolateWindows(windows[i-1], w, horizon), true
	}
	return Quantiles{}, false
}

func interpolateWindows(low, high Window, horizon time.Duration) Quantiles {
	from, to := math.Sqrt(low.Horizon.Seconds()), math.Sqrt(high.Horizon.Seconds())
	share := (math.Sqrt(horizon.Seconds()) - from) / (to - from)
	var q Quantiles
	for i := range q {
		q[i] = low.Quantiles[i] + share*(high.Quantiles[i]-low.Quantiles[i])
	}
	return q
}
