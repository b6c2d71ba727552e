package leadtime

import "time"

// unmeasured is the rest of the lead window, which is not measured: up to one HPA sync (15 s), one step (30 s) and the
// metric's lag (30 s).
const unmeasured = 75 * time.Second

// Window returns the lead window of a lead time: the time over which the maximum of demand is forecast.
func Window(lead time.Duration) time.Duration { return lead + unmeasured }

// maxSpread is how many times the median the 0.9 quantile of starts of one kind is at most. Above that some wait for what others
// find, a node or an image, and they do so together, when demand rises.
const maxSpread = 2

// LookAhead is the lead time that an objective's value looks ahead by: the median of the starts. Its simulated autoscalers draw slower
// ones, too, and its headroom pays for them by outcome; a window of the 0.9 quantile would pay for them twice. Where starts are of
// more than one kind, or the median is unknown (0), it is that quantile.
func LookAhead(median, quantile time.Duration) time.Duration {
	if median > 0 && quantile <= maxSpread*median {
		return median
	}
	return max(median, quantile)
}
