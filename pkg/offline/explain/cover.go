package explain

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Cover is a warm pool that stands ready for a Forecast: the lead time is that of starts on existing nodes.
type Cover struct {
	// Pool by name, in the HPA's namespace, and since when it covers.
	Pool  string
	Since time.Time
	// Starts are the target's pods that were created since, within the last day at most, and are there yet; Waited are those
	// of them that waited for a node, Waiting those that still do. Waiting ones have Waited, too.
	Starts, Waited, Waiting int
}

// oneInMayWait is one in so many starts: the lead time of a covered Forecast is a 0.9 quantile.
const oneInMayWait = 10

// warnUncovered: a pool that covers a Forecast, whose starts wait for nodes all the same.
func (t *explainer) warnUncovered(i int) {
	f := t.s.Metrics[i].Forecast
	if f == nil || f.Cover == nil || f.Cover.Waited*oneInMayWait <= f.Cover.Starts {
		return
	}
	c, still := f.Cover, ""
	if c.Waiting > 0 {
		still = fmt.Sprintf(" (%d of them still)", c.Waiting)
	}
	advice := "kubectl describe warmpool " + c.Pool + ": it holds too little (max, budget, quantile), or chunks that " +
		"the pods do not fit"
	since := c.from(t.s.Now).UTC().Format("2006-01-02 15:04 UTC")
	t.warn(CoveredStartsWait, advice, "warm pool %s covers Forecast %s, so the Forecast looks ahead by the lead time "+
		"on available nodes (%s), but %d of the %d pods created since %s waited for a node%s",
		c.Pool, f.Name, humanize.Span(f.Lead), c.Waited, c.Starts, since, still)
}

// from is the time from which on starts count.
func (c *Cover) from(now time.Time) time.Time {
	if day := now.Add(-24 * time.Hour); c.Since.Before(day) {
		return day
	}
	return c.Since
}

// Counts reports whether a pod's start counts for a Cover at a time.
func (c *Cover) Counts(created, now time.Time) bool { return !created.Before(c.from(now)) }
