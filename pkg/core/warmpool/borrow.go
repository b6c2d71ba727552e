package warmpool

import (
	"math"
	"time"
)

// matchTime is how long a chunk that is no longer ready may match one that a member took: a placeholder pod goes some
// seconds before the pod that preempted it is bound.
const matchTime = 2 * time.Minute

// thousandths returns a number of chunks in thousandths.
func thousandths(chunks float64) int64 { return int64(math.Round(1000 * min(chunks, unlimited))) }

// addBorrowed counts what members' pods took from the pool: the chunks that both ceased to be ready and were taken by
// members within matchTime. A chunk is returned when it is ready again, or no longer held.
func (m *past) addBorrowed(at int64, placed float64, c Capacity) {
	if m.At == 0 {
		return
	}
	if m.Lost+m.Gained > 0 && (at < m.Matching || at-m.Matching > matchTime.Milliseconds()) {
		m.Lost, m.Gained = 0, 0
	}
	if m.Lost+m.Gained == 0 {
		m.Matching = at
	}
	changed := 1000 * (m.Ready - int64(c.Ready))
	m.Lost = min(m.Lost+max(0, changed), maxThousandths)
	m.Gained = min(m.Gained+max(0, thousandths(placed)-m.Placed), maxThousandths)
	took := min(m.Lost, m.Gained)
	m.Lost, m.Gained = m.Lost-took, m.Gained-took
	m.Borrowed = max(0, m.Borrowed+took-max(0, -changed))
	m.Borrowed = min(m.Borrowed, 1000*int64(max(0, c.Held-c.Ready)))
}
