package leadtime

import "time"

// Estimate is the measured duration of one kind of starts.
type Estimate struct {
	// Lead is the 0.9 quantile in use, and Median the median; 0 where it is not Known.
	Lead, Median time.Duration
	// Starts is the number of starts of the kind that were counted.
	Starts int64
	// Known is true where enough starts were counted and the lead time is in use.
	Known bool
}

// Estimates are the durations of starts on existing nodes (Placed) and of starts that waited for a node first (Waited),
// each from the pod's creation until it is ready. Where enough starts on nodes that a warm pool held are Known, Placed
// are those alone.
type Estimates struct {
	Placed, Waited Estimate
}

// Node returns the node's share of a start that waits for one: the difference of the two 0.9 quantiles. It is not the
// quantile of the waits, because it is added to Placed: both together are the duration of a start that waits. Its
// Starts are the fewer of the two kinds.
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

// Estimates returns the estimates in use at a time. Like LeadTime, they change with notice and hysteresis, and depend
// on the record and the time alone.
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
