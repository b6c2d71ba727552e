package warmpool

import "time"

// A pool covers its members once it has stood ready for all of them for a while, twice as long as a node takes and ten
// minutes at most, and ceases to when it has not for a little, two fifths of that time and two minutes at most: members
// change their lead time, and with it what they are served, as seldom as can be.
func toCover(hold time.Duration) time.Duration   { return min(2*hold, 10*time.Minute) }
func toUncover(hold time.Duration) time.Duration { return min(2*hold/5, 2*time.Minute) }

// cover says whether the members are covered: ready is that all of what they may want within a pod's window is there for
// sure, settled that the pool wants no more than it has besides.
func (m *past) cover(at int64, hold time.Duration, ready, settled bool) bool {
	covers := m.covers == 1
	opposite, after := ready && settled, toCover(hold)
	if covers {
		opposite, after = !ready, toUncover(hold)
	}
	switch {
	case !opposite:
		m.turning = 0
	case m.turning == 0 || m.turning > at || m.since(at) > longestGap:
		m.turning = at
	case at-m.turning >= after.Milliseconds():
		covers, m.turning = !covers, 0
	}
	m.covers = flag(covers)
	return covers
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
