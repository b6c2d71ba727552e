package leadtime

import "time"

const (
	// notice is the time between the choice of a new lead time and its use, for all replicas to hear of it.
	notice = time.Minute
	// near is how much the quantile must differ from the lead time in use to replace it, as a ratio: models are fitted anew
	// for each, and a quantile of few starts trembles.
	near = 1.1
)

// Choice is the lead time that follows a quantile: at a distance, so that it rests while the quantile trembles, and with
// notice, so that all who know it change over at the same time. The zero value has chosen nothing.
type Choice struct {
	// Value is in use from the second Since on, Before is what was in use until then; both in seconds, 0 for none.
	Value, Before int64
	Since         int64
}

// take puts a quantile to use where it has left the lead time in use.
func (c *Choice) take(quantile time.Duration, now time.Time) {
	found := int64(quantile / time.Second)
	high, low := float64(max(found, c.Value)), float64(min(found, c.Value))
	if high <= near*low {
		return
	}
	c.Before = int64(c.at(now) / time.Second)
	c.Value = found
	c.Since = now.Add(notice).Unix()
}

// at is the lead time in use at a time, 0 where there is none. A change that is further ahead than notice is given was dated by
// a clock that was ahead, and is not waited for.
func (c *Choice) at(now time.Time) time.Duration {
	if ahead := c.Since - now.Unix(); ahead > 0 && ahead <= int64(2*notice/time.Second) {
		return time.Duration(c.Before) * time.Second
	}
	return time.Duration(c.Value) * time.Second
}
