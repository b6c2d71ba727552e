package warmpool

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// distributionWithin returns the distribution of a member's maximum over a horizon. Below the shortest window it is
// that of the shortest. Beyond the longest, the quantiles are extrapolated from the last two windows in the square root
// of the horizon, as the spread of a random walk grows; from a single window, their distances from its median are.
func distributionWithin(windows []windowpeak.Window, horizon time.Duration) windowpeak.Quantiles {
	last := len(windows) - 1
	switch {
	case horizon <= windows[0].Horizon:
		return monotone(windows[0].Quantiles)
	case horizon <= windows[last].Horizon:
		q, _ := windowpeak.QuantilesAtHorizon(windows, horizon)
		return monotone(q)
	}
	to, from := windows[last], windows[max(last-1, 0)]
	root := func(d time.Duration) float64 { return math.Sqrt(d.Seconds()) }
	out := to.Quantiles
	for i, v := range to.Quantiles {
		if last == 0 {
			median := to.Quantiles.At(0.5)
			out[i] = median + (v-median)*root(horizon)/root(to.Horizon)
			continue
		}
		rise := max(0, v-from.Quantiles[i]) // The maximum over a longer window is no lower.
		out[i] = v + rise*(root(horizon)-root(to.Horizon))/(root(to.Horizon)-root(from.Horizon))
	}
	return monotone(out)
}

// monotone returns the quantiles made non-negative and non-crossing.
func monotone(q windowpeak.Quantiles) windowpeak.Quantiles {
	least := 0.0
	for i, v := range q {
		least = max(least, v)
		q[i] = least
	}
	return q
}

// usable reports whether there are windows, ascending in horizon and finite.
func usable(windows []windowpeak.Window) bool {
	before := time.Duration(0)
	for _, w := range windows {
		if w.Horizon <= before {
			return false
		}
		before = w.Horizon
		for _, v := range w.Quantiles {
			if math.IsNaN(v) || math.Abs(v) > maxDemand {
				return false
			}
		}
	}
	return len(windows) > 0
}
