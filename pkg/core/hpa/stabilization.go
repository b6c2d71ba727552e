package hpa

import (
	"math"
	"time"
)

// recommendation is what the metrics asked for at earlier syncs, one after the other, before stabilization. A window asks
// only whether there was such a sync within it: the newest tells.
type recommendation struct {
	newest   instant
	replicas int32
}

// stabilize holds a proposal by the recommendations of the windows, and remembers it.
func (c *Controller) stabilize(now instant, current, proposed int32) (int32, Reason) {
	held := c.hold(now, current, proposed)
	reason := ReadyForNewScale
	switch {
	case held == proposed:
	case proposed >= current && c.spec.Behavior != nil:
		reason = ScaleUpStabilized
	default:
		reason = ScaleDownStabilized
	}
	c.dropRecommendations(now)
	c.recommend(now, proposed)
	return held, reason
}

// hold is what the recent recommendations make of a proposal.
func (c *Controller) hold(now instant, current, proposed int32) int32 {
	if c.spec.Behavior == nil {
		return c.highestSince(now.before(c.spec.Cluster.DownscaleStabilization), proposed)
	}
	return c.holdBothWays(now, current, proposed)
}

// highestSince is the largest recommendation at or after a time.
func (c *Controller) highestSince(cutoff instant, highest int32) int32 {
	for _, r := range c.recommendations {
		if r.newest >= cutoff {
			highest = max(highest, r.replicas)
		}
	}
	return highest
}

// holdBothWays keeps the current replicas where they lie between the lowest recommendation of the scale-up window
// and the highest of the scale-down window, else goes to the nearer of the two. Unlike without a behavior, a
// recommendation exactly as old as a window is out of it.
func (c *Controller) holdBothWays(now instant, current, proposed int32) int32 {
	upCutoff := now.before(c.spec.Behavior.Up.Stabilization)
	downCutoff := now.before(c.spec.DownStabilization())
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

// undisturbed is until when what was held will be held, as long as the same is proposed: until one of the recommendations
// before it leaves a window. They ascend in time.
func (c *Controller) undisturbed(now instant) instant {
	until := instant(math.MaxInt64)
	earlier := c.recommendations[:len(c.recommendations)-1]
	if c.spec.Behavior == nil {
		if len(earlier) > 0 {
			until = earlier[0].newest + instant(c.spec.Cluster.DownscaleStabilization)
		}
		return until
	}
	for _, window := range []time.Duration{c.spec.Behavior.Up.Stabilization, c.spec.DownStabilization()} {
		for _, r := range earlier {
			if out := r.newest + instant(window); out > now {
				until = min(until, out-1)
				break
			}
		}
	}
	return until
}

// DownStabilization is the window that holds a scale-down: the behavior's, or else the cluster's.
func (s *Spec) DownStabilization() time.Duration {
	if s.Behavior == nil || s.Behavior.Down.Stabilization < 0 {
		return s.Cluster.DownscaleStabilization
	}
	return s.Behavior.Down.Stabilization
}

// recommend remembers a recommendation.
func (c *Controller) recommend(now instant, proposed int32) {
	if n := len(c.recommendations); n > 0 && c.recommendations[n-1].replicas == proposed {
		last := &c.recommendations[n-1]
		last.newest = max(last.newest, now)
		return
	}
	c.recommendations = append(c.recommendations, recommendation{now, proposed})
}

// dropRecommendations forgets what is older than both windows.
func (c *Controller) dropRecommendations(now instant) {
	window := c.spec.DownStabilization()
	if c.spec.Behavior != nil {
		window = max(window, c.spec.Behavior.Up.Stabilization)
	}
	cutoff := now.before(window)
	kept := c.recommendations[:0]
	for _, r := range c.recommendations {
		if r.newest >= cutoff {
			kept = append(kept, r)
		}
	}
	c.recommendations = kept
}
