package hpa

import "time"

// What an HPA without a behavior may do in one sync.
const (
	upFactor  = 2
	upMinimum = 4
)

// change is an earlier scaling, by a number of replicas above 0.
type change struct {
	at instant
	by int32
}

// limit brings a stabilized recommendation within what may be done now.
func (c *Controller) limit(now instant, current, wanted int32) (int32, Reason) {
	if c.spec.Behavior == nil {
		return c.limitPlainly(current, wanted)
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

// limitPlainly is the rule of an HPA without a behavior.
func (c *Controller) limitPlainly(current, wanted int32) (int32, Reason) {
	if wanted < c.spec.Min {
		return c.spec.Min, TooFewReplicas
	}
	if most := max(ceil(upFactor*float64(current)), upMinimum); most < c.spec.Max {
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

// direction of a scaling: its sign.
type direction int32

const (
	up   direction = 1
	down direction = -1
)

// bound is how far the policies of one direction allow to go. 3 pods in 60 s, with 8 replicas now of which 2 came within
// that minute: up to 6 + 3 = 9.
func (c *Controller) bound(now instant, current int32, rules *Rules, d direction) int32 {
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

// allowed is where one policy ends. A percentage goes up by the next whole replica, so that a small one of few replicas
// still moves, and down to the last whole one.
func (d direction) allowed(start int32, p Policy) int32 {
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

// startOfPeriod is how many replicas there were a period ago.
func (c *Controller) startOfPeriod(now instant, current int32, period time.Duration) int32 {
	cutoff := now.before(period)
	return current - sumSince(c.ups, cutoff) + sumSince(c.downs, cutoff)
}

// sumSince adds up the changes after a time.
func sumSince(changes []change, cutoff instant) int32 {
	sum := int32(0)
	for _, c := range changes {
		if c.at > cutoff {
			sum += c.by
		}
	}
	return sum
}

// remember records a scaling: for the policies, of which an HPA without a behavior has none.
func (c *Controller) remember(now instant, from, to int32) {
	if from != to {
		c.scaledToZero = to == 0
	}
	switch {
	case c.spec.Behavior == nil || from == to:
	case to > from:
		c.ups = record(c.ups, change{now, to - from}, now.before(c.spec.Behavior.Up.LongestPeriod()))
	default:
		c.downs = record(c.downs, change{now, from - to}, now.before(c.spec.Behavior.Down.LongestPeriod()))
	}
}

// record puts a change into the place of one that the policies of its own direction no longer look back to. So does the
// controller, and a longer policy of the other direction then misses what was there.
func record(changes []change, news change, cutoff instant) []change {
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].at < cutoff {
			changes[i] = news
			return changes
		}
	}
	return append(changes, news)
}

// LongestPeriod is that of the policies: how far back the controller looks for them.
func (r *Rules) LongestPeriod() time.Duration {
	longest := time.Duration(0)
	for _, p := range r.Policies {
		longest = max(longest, p.Period)
	}
	return longest
}
