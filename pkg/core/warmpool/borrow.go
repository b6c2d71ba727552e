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
	if m.At == 0 {
		return
	}
	if m.Lost+m.Gained > 0 && (at < m.Matching || at-m.Matching > matched.Milliseconds()) {
		m.Lost, m.Gained = 0, 0
	}
	if m.Lost+m.Gained == 0 {
		m.Matching = at
	}
	changed := 1000 * (m.Ready - int64(c.Ready))
	m.Lost = min(m.Lost+max(0, changed), mostHeld)
	m.Gained = min(m.Gained+max(0, thousandths(placed)-m.Placed), mostHeld)
	took := min(m.Lost, m.Gained)
	m.Lost, m.Gained = m.Lost-took, m.Gained-took
	m.Borrowed = max(0, m.Borrowed+took-max(0, -changed))
	m.Borrowed = min(m.Borrowed, 1000*int64(max(0, c.Held-c.Ready)))
}
