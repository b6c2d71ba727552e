package warmpool

import (
	"math"
	"time"
)

// matched is how long a chunk that ceased to be ready and one that a member took are looked at together: a placeholder goes
// some seconds before the pod that preempted it is bound.
const matched = 2 * time.Minute

// thousandths are those of a number of chunks.
func thousandths(chunks float64) int64 { return int64(math.Round(1000 * min(chunks, unlimited))) }

// borrow reckons what members' pods took of the pool: as much as both ceased to be ready and came to members, within a
// little time. A chunk is back when it is ready again, or no longer held.
func (m *past) borrow(at int64, placed float64, c Capacity) {
	if m.at == 0 {
		return
	}
	if m.lost+m.gained > 0 && (at < m.matching || at-m.matching > matched.Milliseconds()) {
		m.lost, m.gained = 0, 0
	}
	if m.lost+m.gained == 0 {
		m.matching = at
	}
	changed := 1000 * (m.ready - int64(c.Ready))
	m.lost = min(m.lost+max(0, changed), mostHeld)
	m.gained = min(m.gained+max(0, thousandths(placed)-m.placed), mostHeld)
	took := min(m.lost, m.gained)
	m.lost, m.gained = m.lost-took, m.gained-took
	m.borrowed = max(0, m.borrowed+took-max(0, -changed))
	m.borrowed = min(m.borrowed, 1000*int64(max(0, c.Held-c.Ready)))
}
