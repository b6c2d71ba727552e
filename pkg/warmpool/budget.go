package warmpool

import "time"

const millisecondsOfDay = int64(24 * time.Hour / time.Millisecond)

// count adds the time since the last plan to what stood idle today: a chunk that is ready is held for nobody yet. After a
// gap that nobody saw, for example between two leaders, only the longest that is taken for seen is counted: the pool may
// have been smaller. With the day (UTC) it begins anew.
func (m *past) count(at int64) {
	from := m.at
	if day := at / millisecondsOfDay; day != m.day {
		m.day, m.stood, m.unseen = day, 0, 0
		from = max(from, day*millisecondsOfDay)
	}
	if m.at == 0 || at <= from {
		return
	}
	seen := min(at-from, longestGap.Milliseconds())
	m.stood = min(m.stood+m.ready*seen, most)
	m.unseen = min(m.unseen+at-from-seen, most)
}

// idle are the GPU-hours that stood idle today.
func (m *past) idle(gpus float64) float64 {
	return float64(m.stood) / float64(time.Hour.Milliseconds()) * gpus
}

// midnight is when the day of the last count ends.
func (m *past) midnight() time.Time { return asTime((m.day + 1) * millisecondsOfDay) }
