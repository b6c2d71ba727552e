package warmpools

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// lead is how long a pod takes on a node that is there, how long a node takes before that, and where both come from.
type lead struct {
	pod, node time.Duration
	source    string
}

// leadOf is that of a pool: the longest of its members', because it is to stand ready for each of them. A member whose
// starts on nodes that were there are too few counts by the lead time that its Forecast has in use, which is not shorter.
func (c *Controller) leadOf(now time.Time, newest *snapshot.Snapshot, p *Pool) lead {
	var l lead
	var placed, waited int64
	for _, m := range p.Resolved.Members {
		key := p.member(m.Forecast)
		parts, measured := c.Workloads.Starts(key, now)
		entry := newest.Get(key)
		switch {
		case measured && parts.Placed.Enough:
			l.pod = max(l.pod, parts.Placed.Lead)
			placed += parts.Placed.Starts
		case entry != nil:
			l.pod = max(l.pod, entry.Lead)
		}
		if node := parts.Node(); p.Resolved.Measured && measured && node.Enough {
			l.node = max(l.node, node.Lead)
			waited += node.Starts
		}
	}
	l.source = podSource(placed) + "; " + nodeSource(p, waited)
	if waited == 0 {
		l.node = p.Resolved.Pool.Node
	}
	return l
}

func podSource(placed int64) string {
	if placed == 0 {
		return "pod: the members' own lead times, as too few of their starts found a node to go by"
	}
	return fmt.Sprintf("pod: p%.0f of %d starts on nodes that were there", 100*leadtime.Level, placed)
}

func nodeSource(p *Pool, waited int64) string {
	switch named := words(p.Resolved.Pool.Node); {
	case !p.Resolved.Measured:
		return "node: fixed " + named
	case waited == 0:
		return "node: fallback " + named + ", as too few starts waited for one to go by"
	}
	return fmt.Sprintf("node: what p%.0f of %d starts that waited for one took beyond that", 100*leadtime.Level, waited)
}

// words are a duration as the objects write it.
func words(d time.Duration) string { return model.Duration(d.Round(time.Second)).String() }
