package hpa

import "time"

// recommendation is what the metrics asked for at an earlier sync, before stabilization.
type recommendation struct {
	at       time.Time
	replicas int32
}

// stabilize holds a proposal by the recommendations of the windows, and remembers it.
func (c *Controller) stabilize(now time.Time, current, proposed int32) (int32, Reason) {
	held := c.hold(now, current, proposed)
	reason := ReadyForNewScale
	switch {
	case held == proposed:
	case proposed >= current && c.spec.Behavior != nil:
		reason = ScaleUpStabilized
	default:
		reason = ScaleDownStabilized
	}
	c.recommendations = append(c.dropRecommendations(now), recommendation{now, proposed})
	return held, reason
}

// hold is what the recent recommendations make of a proposal.
func (c *Controller) hold(now time.Time, current, proposed int32) int32 {
	if c.spec.Behavior == nil {
		return c.highestSince(now.Add(-c.spec.Cluster.DownscaleStabilization), proposed)
	}
	return c.holdBothWays(now, current, proposed)
}

// highestSince is the largest recommendation at or after a time.
func (c *Controller) highestSince(cutoff time.Time, highest int32) int32 {
	for _, r := range c.recommendations {
		if !r.at.Before(cutoff) {
			highest = max(highest, r.replicas)
		}
	}
	return highest
}

// holdBothWays keeps the current replicas where they lie between the lowest recommendation of the scale-up window
// and the highest of the scale-down window, else goes to the nearer of the two. Unlike without a behavior, a
// recommendation exactly as old as a window is out of it.
func (c *Controller) holdBothWays(now time.Time, current, proposed int32) int32 {
	upCutoff := now.Add(-c.spec.Behavior.Up.Stabilization)
	downCutoff := now.Add(-c.spec.downStabilization())
	lowest, highest := proposed, proposed
	for _, r := range c.recommendations {
		if r.at.After(upCutoff) {
			lowest = min(lowest, r.replicas)
		}
		if r.at.After(downCutoff) {
			highest = max(highest, r.replicas)
		}
	}
	return min(max(current, lowest), highest)
}

// downStabilization is the window that holds a scale-down.
func (s *Spec) downStabilization() time.Duration {
	if s.Behavior == nil || s.Behavior.Down.Stabilization < 0 {
		return s.Cluster.DownscaleStabilization
	}
	return s.Behavior.Down.Stabilization
}

// dropRecommendations forgets what is older than both windows.
func (c *Controller) dropRecommendations(now time.Time) []recommendation {
	window := c.spec.downStabilization()
	if c.spec.Behavior != nil {
		window = max(window, c.spec.Behavior.Up.Stabilization)
	}
	cutoff := now.Add(-window)
	kept := c.recommendations[:0]
	for _, r := range c.recommendations {
		if !r.at.Before(cutoff) {
			kept = append(kept, r)
		}
	}
	return kept
}
