package warmpool

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// within is the distribution of a member's maximum over a horizon. Below the shortest window it is that of the shortest.
// Beyond the longest the quantiles go on as they went between the last two windows, in the square root of the horizon, as
// the spread of a random walk does; from a single window their distances from its median do.
//
// Worked: a 0.95 quantile of 120 within 15 minutes and 140 within an hour is, within 4 hours, 140 + 20·(√240 − √60)/(√60 −
// √15) = 180.
func within(windows []windowpeak.Window, horizon time.Duration) windowpeak.Quantiles {
	last := len(windows) - 1
	switch {
	case horizon <= windows[0].Horizon:
		return proper(windows[0].Quantiles)
	case horizon <= windows[last].Horizon:
		q, _ := windowpeak.AtHorizon(windows, horizon)
		return proper(q)
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
	return proper(out)
}

// proper is a distribution of something that is not negative and whose quantiles do not cross.
func proper(q windowpeak.Quantiles) windowpeak.Quantiles {
	least := 0.0
	for i, v := range q {
		least = max(least, v)
		q[i] = least
	}
	return q
}

// usable says whether windows are there, ascend in horizon, and are finite.
func usable(windows []windowpeak.Window) bool {
	before := time.Duration(0)
	for _, w := range windows {
		if w.Horizon <= before {
			return false
		}
		before = w.Horizon
		for _, v := range w.Quantiles {
			if math.IsNaN(v) || math.Abs(v) > largest {
				return false
			}
		}
	}
	return len(windows) > 0
}
