package leadtime

import "time"

const (
	// notice is the time between the choice of a new lead time and its use, for all replicas to hear of it.
	notice = time.Minute
	// near is how much the quantile must differ from the lead time in use to replace it, as a ratio: models are fitted anew
	// for each, and a quantile of few starts trembles.
	near = 1.1
)

// choice is the lead time that follows a quantile: at a distance, so that it rests while the quantile trembles, and with
// notice, so that all who know it change over at the same time. The zero value has chosen nothing.
type choice struct {
	// lead is in use from the second since on, before it is what was in use until then; both in seconds, 0 for none.
	lead, before int64
	since        int64
}

// take puts a quantile to use where it has left the lead time in use.
func (c *choice) take(quantile time.Duration, now time.Time) {
	found := int64(quantile / time.Second)
	high, low := float64(max(found, c.lead)), float64(min(found, c.lead))
	if high <= near*low {
		return
	}
	c.before = int64(c.at(now) / time.Second)
	c.lead = found
	c.since = now.Add(notice).Unix()
}

// at is the lead time in use at a time, 0 where there is none.
func (c *choice) at(now time.Time) time.Duration {
	if now.Unix() < c.since {
		return time.Duration(c.before) * time.Second
	}
	return time.Duration(c.lead) * time.Second
}
