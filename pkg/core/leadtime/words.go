package leadtime

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// String says in words what was measured without a warm pool: "3 of 10 starts measured", or "p90 of 14 starts: 11 on nodes
// that were there 3m50s, 3 that waited for a node 9m20s"; and how many starts there were with one.
func (r *Record) String() string {
	if r.Held.Count == 0 {
		return r.without()
	}
	return fmt.Sprintf("%s; %d more while a warm pool held nodes", r.without(), r.Held.Count)
}

func (r *Record) without() string {
	if r.free() < Enough {
		return fmt.Sprintf("%d of %d starts measured", r.free(), Enough)
	}
	text := fmt.Sprintf("p%.0f of %d starts", 100*Level, r.free())
	switch {
	case r.Waited.Count == 0:
		return text + ", all on nodes that were there"
	case r.Placed.Count == 0:
		return text + ", all of which waited for a node"
	}
	return fmt.Sprintf("%s: %d on nodes that were there %s, %d that waited for a node %s", text,
		r.Placed.Count, humanize.Span(r.Placed.Histogram.quantile(Level)),
		r.Waited.Count, humanize.Span(r.Waited.Histogram.quantile(Level)))
}

// OnNodes says in words what a lead time rests on that a warm pool makes hold: "p90 of 11 starts on nodes that were there,
// which warm pool h100 holds".
func (p Part) OnNodes(pool string) string {
	const text = "p%.0f of %d starts on nodes that were there, which warm pool %s holds"
	return fmt.Sprintf(text, 100*Level, p.Starts, pool)
}
