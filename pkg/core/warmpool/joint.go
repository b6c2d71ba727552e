package warmpool

import (
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// addJoint adds what the reliable members need together to the quantiles over the two windows, and reports whether
// their common past was used for it.
//
// The pool is shared, so what counts is the quantile of the maximum of the summed demand, not the sum of the members'
// quantiles, which is right only where all peak at once. The forecasts give each member's own distribution F. How the
// members move together comes from the recent past, by the Schaake shuffle (Clark and others 2004; Schefzik,
// Thorarinsdottir and Gneiting 2013), which is the empirical copula of the past. For every moment j of it:
//
//	rise  = the member's maximum over the window after j, less its demand at j
//	u     = the rank of that rise among the moments, in (0, 1)
//	r     = the highest sum within the window over the sum of the members' maxima: below 1 where they peaked apart
//	S     = the sum over the members of chunks · (⌈r·F⁻¹(u) / target⌉ − the replicas it has), 0 where that is negative
//
// and the result is the quantile of the S, without random draws. Sums of heavy tails may have a quantile above the sum
// of the quantiles; the pool holds at most the latter.
//
// Worked: two equal members have 10 replicas each now, 14 at their 0.95 quantile, 11 at the median. If they rose
// together all day, S at its 0.95 quantile is 28, and 8 chunks are needed. If one rose whenever the other fell, high
// ranks of one meet low ranks of the other, and S is about 10 + 14: 4 chunks.
//
// Measured: with exact distributions, and a thousand futures of each present, the result is 3 % from the true 0.95
// quantile on average over twenty worlds. The sum of quantiles is 17 % off; independence is 9 % off, and up to 14 % too
// low where members have something in common. On recorded demand 97 to 98 % of the windows are covered with 13 % less
// than the sum of quantiles.
//
// Members with too short a past are assumed to peak together, and so are all members without enough common past: the
// safe assumption.
func addJoint(p Pool, sound []*plannedMember, pod, node *quantiles) bool {
	var coupled []*plannedMember
	c := couple(sound, leadtime.Window(p.Pod), leadtime.Window(p.Pod+p.Node))
	for i, a := range sound {
		if c != nil && c.past[i] != nil {
			coupled = append(coupled, a)
			continue
		}
		pod.addApart(a, &a.pod, p.Quantile)
		node.addApart(a, &a.node, p.Quantile)
	}
	if c != nil {
		c.sum(coupled, 0, p.Quantile, pod)
		c.sum(coupled, 1, p.Quantile, node)
	}
	return c != nil || len(sound) < 2
}

// addApart adds a member that is assumed to peak with all others.
func (q *quantiles) addApart(a *plannedMember, own *windowpeak.Quantiles, level float64) {
	high := a.beyond(own.At(level))
	q.high += high
	q.apart += high
	q.median += a.beyond(own.At(0.5))
}
