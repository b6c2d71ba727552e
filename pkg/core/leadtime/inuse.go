package leadtime

import "time"

const (
	// notice is the time from the selection of a new lead time to its use, so that all adapter replicas have read it by
	// then.
	notice = time.Minute
	// minRatio is the ratio by which the quantile must differ from the lead time in use to replace it: each change
	// refits the models, and the quantile of few starts is noisy.
	minRatio = 1.1
)

// InUse is the lead time in use. It follows a quantile with hysteresis, so that noise does not change it, and with
// notice, so that all readers switch at the same time. The zero value has none.
type InUse struct {
	// Value is in use from the second Since on, Previous before that; both in seconds, 0 for none.
	Value, Previous int64
	Since           int64
}

// update selects a quantile that differs enough from the lead time in use.
func (c *InUse) update(quantile time.Duration, now time.Time) {
	found := int64(quantile / time.Second)
	high, low := float64(max(found, c.Value)), float64(min(found, c.Value))
	if high <= minRatio*low {
		return
	}
	c.Previous = int64(c.at(now) / time.Second)
	c.Value = found
	c.Since = now.Add(notice).Unix()
}

// at returns the lead time in use at a time, 0 without one. A change further ahead than the notice comes from a clock
// that was wrong; it applies at once.
func (c *InUse) at(now time.Time) time.Duration {
	if ahead := c.Since - now.Unix(); ahead > 0 && ahead <= int64(2*notice/time.Second) {
		return time.Duration(c.Previous) * time.Second
	}
	return time.Duration(c.Value) * time.Second
}
