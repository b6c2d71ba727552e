package leadtime

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Estimate is the measured duration of one kind of starts.
type Estimate struct {
	// Lead is the 0.9 quantile in use, and Median the median; 0 where it is not Known.
	Lead, Median time.Duration
	// Starts is the number of starts of the kind that were counted.
	Starts int64
	// Known is true where enough starts were counted and the lead time is in use.
	Known bool
}

// Estimates are the durations of starts on existing nodes (Placed) and of starts that waited for a node first (Waited), each from the pod's
// creation until it is ready. If enough starts on nodes that a warm pool held are known, Placed describes only these starts.
type Estimates struct {
	Placed, Waited Estimate
}

// Node returns the node's share of a start that waits for one: the difference of the two 0.9 quantiles. It is not the quantile of the
// waits, because it is added to Placed: both together are the duration of a start that waits. Its Starts is the number of starts of the
// kind that has fewer.
func (p Estimates) Node() Estimate {
	node := Estimate{
		Starts: min(p.Placed.Starts, p.Waited.Starts),
		Known:  p.Placed.Known && p.Waited.Known,
	}
	if node.Known {
		node.Lead = max(p.Waited.Lead-p.Placed.Lead, 0)
	}
	return node
}

// Estimates returns the estimates in use at a time. Like LeadTime, they change with notice and hysteresis, and depend only on the record
// and the time.
func (r *Record) Estimates(now time.Time) Estimates {
	there := r.onExistingNodes()
	return Estimates{
		Placed: r.PlacedLead.estimate(there.Count, now),
		Waited: r.WaitedLead.estimate(r.Waited.Count, now),
	}
}

func (c *InUse) estimate(starts int64, now time.Time) Estimate {
	lead, median := c.at(now)
	return Estimate{Lead: lead, Median: median, Starts: starts, Known: lead > 0}
}

// String describes what was measured without a warm pool, and the number of starts with one: "3 of 10 starts measured",
// or "p90 of 14 starts: 3m50s for 11 on existing nodes, 9m20s for 3 that waited for a node".
func (r *Record) String() string {
	if r.Held.Count == 0 {
		return r.describeWithoutPool()
	}
	return fmt.Sprintf("%s; %d more on nodes that a warm pool held", r.describeWithoutPool(), r.Held.Count)
}

func (r *Record) describeWithoutPool() string {
	if r.withoutPool() < minStarts {
		return fmt.Sprintf("%d of %d starts measured", r.withoutPool(), minStarts)
	}
	text := fmt.Sprintf("p%.0f of %d starts", 100*Quantile, r.withoutPool())
	switch {
	case r.Waited.Count == 0:
		return text + ", all on existing nodes"
	case r.Placed.Count == 0:
		return text + ", all of which waited for a node"
	}
	return fmt.Sprintf("%s: %s for %d on existing nodes, %s for %d that waited for a node", text,
		humanize.Span(r.Placed.Histogram.quantile(Quantile)), r.Placed.Count,
		humanize.Span(r.Waited.Histogram.quantile(Quantile)), r.Waited.Count)
}

// PoolSource describes the source of a lead time that a warm pool provides: "p90 of 11 starts on existing nodes that warm pool
// h100 provides".
func (p Estimate) PoolSource(pool string) string {
	const text = "p%.0f of %d starts on existing nodes that warm pool %s provides"
	return fmt.Sprintf(text, 100*Quantile, p.Starts, pool)
}

// unmeasured is the part of the lead window that is not measured: up to one HPA sync (15 s), one step (30 s) and the metric's lag (30 s).
const unmeasured = 75 * time.Second

// Window returns the lead window of a lead time: the time over which the maximum of demand is forecast.
func Window(lead time.Duration) time.Duration { return lead + unmeasured }

// maxSpread is the largest ratio of the 0.9 quantile to the median for starts of one kind. Above it, some starts wait for something that
// other starts find, such as a node or an image. They do so at the same time, when the demand rises.
const maxSpread = 2

// LookAhead is how far an objective's value looks ahead: the median of the start times. Slow starts are part of the headroom, because the
// autoscalers that learn it also draw slower starts. A window as long as the 0.9 quantile would cover them twice. LookAhead is the 0.9
// quantile if there is more than one kind of start, or if the median is unknown (0).
func LookAhead(median, quantile time.Duration) time.Duration {
	if median > 0 && quantile <= maxSpread*median {
		return median
	}
	return max(median, quantile)
}
