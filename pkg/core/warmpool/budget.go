package warmpool

import "time"

const millisecondsOfDay = int64(24 * time.Hour / time.Millisecond)

// addIdle adds the time since the last plan to today's idle time: a ready chunk is idle. After a gap without plans, for
// example between two leaders, at most longestGap counts, because the pool may have been smaller. Each day (UTC) starts
// at 0.
func (m *past) addIdle(at int64) {
	from := m.At
	if day := at / millisecondsOfDay; day != m.At/millisecondsOfDay {
		m.Idle, m.Unseen = 0, 0
		from = max(from, day*millisecondsOfDay)
	}
	if m.At == 0 || at <= from {
		return
	}
	seen := min(at-from, longestGap.Milliseconds())
	m.Idle = min(m.Idle+m.Ready*seen, maxSum)
	m.Unseen = min(m.Unseen+at-from-seen, maxSum)
}

// idleHours returns today's idle GPU-hours.
func (m *past) idleHours(gpus float64) float64 {
	return float64(m.Idle) / float64(time.Hour.Milliseconds()) * gpus
}

// midnight returns the end of an instant's day (UTC).
func midnight(at int64) time.Time { return asTime((at/millisecondsOfDay + 1) * millisecondsOfDay) }
