package warmpool

import "time"

const millisecondsOfDay = int64(24 * time.Hour / time.Millisecond)

// count adds the time since the last plan to what stood idle today: a chunk that is ready is held for nobody yet. After a
// gap that nobody saw, for example between two leaders, only the longest that is taken for seen is counted: the pool may
// have been smaller. With the day (UTC) it begins anew.
func (m *past) count(at int64) {
	from := m.At
	if day := at / millisecondsOfDay; day != m.At/millisecondsOfDay {
		m.Idle, m.Unseen = 0, 0
		from = max(from, day*millisecondsOfDay)
	}
	if m.At == 0 || at <= from {
		return
	}
	seen := min(at-from, longestGap.Milliseconds())
	m.Idle = min(m.Idle+m.Ready*seen, most)
	m.Unseen = min(m.Unseen+at-from-seen, most)
}

// idle are the GPU-hours that stood idle today.
func (m *past) idle(gpus float64) float64 {
	return float64(m.Idle) / float64(time.Hour.Milliseconds()) * gpus
}

// midnight is when the day (UTC) of an instant ends.
func midnight(at int64) time.Time { return asTime((at/millisecondsOfDay + 1) * millisecondsOfDay) }
