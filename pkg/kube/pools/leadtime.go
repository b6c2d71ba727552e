package pools

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// leadTimes are the lead time of a pod on an existing node, the lead time of a new node, and their sources.
type leadTimes struct {
	pod, node time.Duration
	source    string
}

// leadTimesOf returns the longest lead times of a pool's members, because the pool must be ready for each of them. A
// member with too few starts on existing nodes counts with the lead time of its Forecast, which is not shorter.
func (c *Controller) leadTimesOf(now time.Time, newest *snapshot.Snapshot, p *Pool) leadTimes {
	var l leadTimes
	var placed, waited int64
	for _, m := range p.Resolved.Members {
		key := p.memberKey(m.Forecast)
		parts, measured := c.Workloads.Starts(key, now)
		entry := newest.Get(key)
		switch {
		case measured && parts.Placed.Known:
			l.pod = max(l.pod, parts.Placed.Lead)
			placed += parts.Placed.Starts
		case entry != nil:
			l.pod = max(l.pod, entry.Lead)
		}
		if node := parts.Node(); p.Resolved.MeasureLeadTime && measured && node.Known {
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
		return "pod: the members' own lead times (too few starts on existing nodes)"
	}
	return fmt.Sprintf("pod: p%.0f of %d starts on existing nodes", 100*leadtime.Quantile, placed)
}

func nodeSource(p *Pool, waited int64) string {
	switch named := formatDuration(p.Resolved.Pool.Node); {
	case !p.Resolved.MeasureLeadTime:
		return "node: fixed " + named
	case waited == 0:
		return "node: fallback " + named + " (too few starts waited for a new node)"
	}
	return fmt.Sprintf("node: p%.0f of %d starts that waited for a new node, less the pod's", 100*leadtime.Quantile,
		waited)
}

// formatDuration writes a duration as in the objects.
func formatDuration(d time.Duration) string { return model.Duration(d.Round(time.Second)).String() }
