package hpa

import (
	"math"
	"time"
)

// recommendation is a run of equal proposals before stabilization. Only the time of the newest proposal is kept, because a window only
// needs to know whether any proposal of the run lies within it.
type recommendation struct {
	newest   Instant
	replicas int32
}

// stabilize limits a proposal by the recommendations within the stabilization windows, and records the proposal.
func (c *Controller) stabilize(now Instant, current, proposed int32) (int32, Reason) {
	held := c.stabilized(now, current, proposed)
	reason := ReadyForNewScale
	switch {
	case held == proposed:
	case proposed >= current && c.spec.Behavior != nil:
		reason = ScaleUpStabilized
	default:
		reason = ScaleDownStabilized
	}
	c.dropRecommendations(now)
	c.addRecommendation(now, proposed)
	return held, reason
}

// stabilized returns the proposal limited by the recent recommendations.
func (c *Controller) stabilized(now Instant, current, proposed int32) int32 {
	if c.spec.Behavior == nil {
		return c.highestSince(now.Add(-c.spec.Cluster.DownscaleStabilization), proposed)
	}
	return c.stabilizedBothWays(now, current, proposed)
}

// highestSince returns the largest recommendation at or after a time.
func (c *Controller) highestSince(cutoff Instant, highest int32) int32 {
	for _, r := range c.recommendations {
		if r.newest >= cutoff {
			highest = max(highest, r.replicas)
		}
	}
	return highest
}

// stabilizedBothWays keeps the current replicas if they lie between the lowest recommendation of the scale-up window and the highest
// recommendation of the scale-down window. Otherwise, it returns the nearer of the two. A recommendation that is exactly as old as a window
// is outside the window, unlike in an HPA without a behavior.
func (c *Controller) stabilizedBothWays(now Instant, current, proposed int32) int32 {
	upCutoff := now.Add(-c.spec.Behavior.Up.Stabilization)
	downCutoff := now.Add(-c.spec.DownStabilization())
	lowest, highest := proposed, proposed
	for _, r := range c.recommendations {
		if r.newest > upCutoff {
			lowest = min(lowest, r.replicas)
		}
		if r.newest > downCutoff {
			highest = max(highest, r.replicas)
		}
	}
	return min(max(current, lowest), highest)
}

// stableUntil returns the time until which the same proposal has the same result. The result can change when one of the earlier
// recommendations leaves a window. The recommendations ascend in time.
func (c *Controller) stableUntil(now Instant) Instant {
	until := Instant(math.MaxInt64)
	earlier := c.recommendations[:len(c.recommendations)-1]
	if c.spec.Behavior == nil {
		if len(earlier) > 0 {
			until = earlier[0].newest + Instant(c.spec.Cluster.DownscaleStabilization)
		}
		return until
	}
	for _, window := range []time.Duration{c.spec.Behavior.Up.Stabilization, c.spec.DownStabilization()} {
		for _, r := range earlier {
			if out := r.newest + Instant(window); out > now {
				until = min(until, out-1)
				break
			}
		}
	}
	return until
}

// DownStabilization returns the scale-down window: from the behavior, or else from the cluster.
func (s *Spec) DownStabilization() time.Duration {
	if s.Behavior == nil || s.Behavior.Down.Stabilization < 0 {
		return s.Cluster.DownscaleStabilization
	}
	return s.Behavior.Down.Stabilization
}

// addRecommendation records a proposal.
func (c *Controller) addRecommendation(now Instant, proposed int32) {
	if n := len(c.recommendations); n > 0 && c.recommendations[n-1].replicas == proposed {
		last := &c.recommendations[n-1]
		last.newest = max(last.newest, now)
		return
	}
	c.recommendations = append(c.recommendations, recommendation{now, proposed})
}

// dropRecommendations drops the recommendations that are older than both windows.
func (c *Controller) dropRecommendations(now Instant) {
	window := c.spec.DownStabilization()
	if c.spec.Behavior != nil {
		window = max(window, c.spec.Behavior.Up.Stabilization)
	}
	cutoff := now.Add(-window)
	kept := c.recommendations[:0]
	for _, r := range c.recommendations {
		if r.newest >= cutoff {
			kept = append(kept, r)
		}
	}
	c.recommendations = kept
}
