package windowpeak

import (
	"math"
	"time"
)

// levels are the probabilities at which a window's maximum is tabulated. Dense where a decision lives, in the upper tail.
var levels = [...]float64{ //nolint:gochecknoglobals // A constant table.
	0.05, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995,
}

// Lowest and Highest are the ends of the range in which a quantile may be asked for.
const (
	Lowest  = 0.05
	Highest = 0.995
)

// Quantiles is the distribution of a quantity at Levels(), in the same order and never decreasing.
type Quantiles [len(levels)]float64

// Levels are the probabilities of a Quantiles, in ascending order.
func Levels() []float64 { return levels[:] }

// At is the p-quantile, linear between tabulated levels; outside [Lowest, Highest] it is that of the nearest end.
func (q *Quantiles) At(p float64) float64 {
	if p <= levels[0] {
		return q[0]
	}
	for i := 1; i < len(levels); i++ {
		if p <= levels[i] {
			share := (p - levels[i-1]) / (levels[i] - levels[i-1])
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

// AtHorizon is the distribution for any horizon between those of the windows, which ascend in horizon. Between two it is
// linear in the square root of the horizon, as the spread of a random walk grows. ok is false outside their range.
func AtHorizon(windows []Window, horizon time.Duration) (q Quantiles, ok bool) {
	for i, w := range windows {
		switch {
		case w.Horizon == horizon:
			return w.Quantiles, true
		case w.Horizon < horizon:
			continue
		case i == 0:
			return Quantiles{}, false
		}
		return between(windows[i-1], w, horizon), true
	}
	return Quantiles{}, false
}

func between(low, high Window, horizon time.Duration) Quantiles {
	from, to := math.Sqrt(low.Horizon.Seconds()), math.Sqrt(high.Horizon.Seconds())
	share := (math.Sqrt(horizon.Seconds()) - from) / (to - from)
	var q Quantiles
	for i := range q {
		q[i] = low.Quantiles[i] + share*(high.Quantiles[i]-low.Quantiles[i])
	}
	return q
}
