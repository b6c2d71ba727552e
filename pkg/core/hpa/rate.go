package hpa

import "time"

// Without a behavior, one sync of an HPA at most doubles the replicas, or scales to 4 if that is more.
const (
	defaultUpFactor  = 2
	defaultUpMinimum = 4
)

// change is an earlier scaling, up or down, by a positive number of replicas.
type change struct {
	at Instant
	by int32
}

// limit applies the policies, minReplicas and maxReplicas to a stabilized recommendation.
func (c *Controller) limit(now Instant, current, wanted int32) (int32, Reason) {
	if c.spec.Behavior == nil {
		return c.limitWithoutBehavior(current, wanted)
	}
	switch {
	case wanted > current:
		most := max(c.bound(now, current, &c.spec.Behavior.Up, up), current)
		if most < c.spec.Max {
			return atMost(wanted, most, ScaleUpLimit)
		}
		return atMost(wanted, c.spec.Max, TooManyReplicas)
	case wanted < current:
		least := min(c.bound(now, current, &c.spec.Behavior.Down, down), current)
		if least > c.spec.Min {
			return atLeast(wanted, least, ScaleDownLimit)
		}
		return atLeast(wanted, c.spec.Min, TooFewReplicas)
	default:
		return wanted, DesiredWithinRange
	}
}

// limitWithoutBehavior applies the limits of an HPA without a behavior.
func (c *Controller) limitWithoutBehavior(current, wanted int32) (int32, Reason) {
	if wanted < c.spec.Min {
		return c.spec.Min, TooFewReplicas
	}
	if most := max(ceil(defaultUpFactor*float64(current)), defaultUpMinimum); most < c.spec.Max {
		return atMost(wanted, most, ScaleUpLimit)
	}
	return atMost(wanted, c.spec.Max, TooManyReplicas)
}

func atMost(wanted, most int32, reason Reason) (int32, Reason) {
	if wanted > most {
		return most, reason
	}
	return wanted, DesiredWithinRange
}

func atLeast(wanted, least int32, reason Reason) (int32, Reason) {
	if wanted < least {
		return least, reason
	}
	return wanted, DesiredWithinRange
}

// direction is the sign of a scaling.
type direction int32

const (
	up   direction = 1
	down direction = -1
)

// bound returns the replicas that the policies of one direction allow. For example, if a policy allows 3 pods in 60 s, and 2 of the 8
// present replicas were added within the last 60 s, it allows 6 + 3 = 9 replicas.
func (c *Controller) bound(now Instant, current int32, rules *Rules, d direction) int32 {
	bound := current
	if rules.Select == SelectDisabled {
		return bound
	}
	for i, p := range rules.Policies {
		allowed := d.allowed(c.startOfPeriod(now, current, p.Period), p)
		if i == 0 || d.farther(allowed, bound) == (rules.Select == SelectMax) {
			bound = allowed
		}
	}
	return bound
}

// allowed returns the replicas that one policy allows. A percentage is rounded in favor of the change (up when scaling up, down when
// scaling down), so that a small percentage of few replicas still has an effect.
func (d direction) allowed(start int32, p ScalingPolicy) int32 {
	if p.Type == Pods {
		return start + int32(d)*p.Value
	}
	scaled := float64(start) * (1 + float64(d)*float64(p.Value)/100)
	if d == up {
		return ceil(scaled)
	}
	return int32(scaled)
}

func (d direction) farther(a, b int32) bool { return (a > b) == (d == up) && a != b }

// startOfPeriod returns the number of replicas at the start of the period that ends now.
func (c *Controller) startOfPeriod(now Instant, current int32, period time.Duration) int32 {
	cutoff := now.Add(-period)
	return current - sumSince(c.ups, cutoff) + sumSince(c.downs, cutoff)
}

// sumSince sums the changes after a time.
func sumSince(changes []change, cutoff Instant) int32 {
	sum := int32(0)
	for _, c := range changes {
		if c.at > cutoff {
			sum += c.by
		}
	}
	return sum
}

// remember records a scaling for the policies. An HPA without a behavior has no policies.
func (c *Controller) remember(now Instant, from, to int32) {
	if from != to {
		c.scaledToZero = to == 0
	}
	switch {
	case c.spec.Behavior == nil || from == to:
	case to > from:
		c.ups = addChange(c.ups, change{now, to - from}, now.Add(-c.spec.Behavior.Up.LongestPeriod()))
	default:
		c.downs = addChange(c.downs, change{now, from - to}, now.Add(-c.spec.Behavior.Down.LongestPeriod()))
	}
}

// addChange overwrites a change that is too old for the policies of its own direction, or appends one. The controller does the same, so a
// policy of the other direction with a longer period misses the overwritten change.
func addChange(changes []change, news change, cutoff Instant) []change {
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].at < cutoff {
			changes[i] = news
			return changes
		}
	}
	return append(changes, news)
}

// LongestPeriod returns the longest period of the policies.
func (r *Rules) LongestPeriod() time.Duration {
	longest := time.Duration(0)
	for _, p := range r.Policies {
		longest = max(longest, p.Period)
	}
	return longest
}
