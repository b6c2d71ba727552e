package leadtime

import "time"

// Part is how long a kind of starts takes, and what that rests on.
type Part struct {
	// Lead is the 0.9 quantile that is in use; 0 where there is not Enough.
	Lead time.Duration
	// Starts of the kind that were ever counted.
	Starts int64
	// Enough of them were counted for a lead time, and it is in use.
	Enough bool
}

// Parts are the two kinds of starts: those that found a node, and those that waited for one first. A start is a whole
// one, from the pod's creation until it is ready. Where there are Enough starts on nodes that a warm pool held, Placed are
// those alone.
type Parts struct {
	Placed, Waited Part
}

// Node is the node's own part of a start that waits for one: by how much its 0.9 quantile exceeds that of the starts on
// nodes that were there. It is the difference of two quantiles and not the quantile of the waits, because it is to be added
// to the first: the two together are what a start that waits takes. It rests on the fewer starts of the two kinds.
func (p Parts) Node() Part {
	node := Part{
		Starts: min(p.Placed.Starts, p.Waited.Starts),
		Enough: p.Placed.Enough && p.Waited.Enough,
	}
	if node.Enough {
		node.Lead = max(p.Waited.Lead-p.Placed.Lead, 0)
	}
	return node
}

// Parts are those in use at a time. Like At they have notice, rest while the quantiles tremble, and are the same for
// everyone who has the record and the time.
func (r *Record) Parts(now time.Time) Parts {
	there := r.onNodes()
	return Parts{Placed: r.PlacedLead.part(there.Count, now), Waited: r.WaitedLead.part(r.Waited.Count, now)}
}

func (c *Choice) part(starts int64, now time.Time) Part {
	lead := c.at(now)
	return Part{Lead: lead, Starts: starts, Enough: lead > 0}
}

// PlacedSince is when the newest lead time of starts on nodes that were there is in use from.
func (r *Record) PlacedSince() time.Time { return time.Unix(r.PlacedLead.Since, 0) }
