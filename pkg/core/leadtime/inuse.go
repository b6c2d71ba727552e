package leadtime

import "time"

const (
	// notice is the time from the selection of a new lead time to its use. By then, all adapter replicas have read it.
	notice = time.Minute
	// minRatio is the ratio by which a quantile must differ from the value in use to replace it. Each change refits the models, and the
	// quantile of few starts is noisy.
	minRatio = 1.1
)

// InUse is the lead time in use, along with the median of the start times. Both follow quantiles with hysteresis, so that noise does not
// change them, and changes are announced, so that all readers switch at the same time. The zero value contains no lead time.
type InUse struct {
	// Value and Median are in use from the second Since on, Previous and PreviousMedian before that; in seconds, 0 for none.
	Value, Previous        int64
	Median, PreviousMedian int64
	Since                  int64
}

// update selects the quantiles of a histogram if one of them differs enough from the value in use.
func (c *InUse) update(h *Histogram, now time.Time) {
	value, median := int64(h.quantile(Quantile)/time.Second), int64(h.quantile(0.5)/time.Second)
	if !differ(value, c.Value) && !differ(median, c.Median) {
		return
	}
	previous, previousMedian := c.at(now)
	c.Previous, c.PreviousMedian = int64(previous/time.Second), int64(previousMedian/time.Second)
	c.Value, c.Median = value, median
	c.Since = now.Add(notice).Unix()
}

func differ(a, b int64) bool { return float64(max(a, b)) > minRatio*float64(min(a, b)) }

// at returns the lead time and the median in use at a time; 0 if there is none. A change that is dated further ahead than twice the notice
// comes from a clock that was wrong. It applies immediately.
func (c *InUse) at(now time.Time) (lead, median time.Duration) {
	if ahead := c.Since - now.Unix(); ahead > 0 && ahead <= int64(2*notice/time.Second) {
		return time.Duration(c.Previous) * time.Second, time.Duration(c.PreviousMedian) * time.Second
	}
	return time.Duration(c.Value) * time.Second, time.Duration(c.Median) * time.Second
}
