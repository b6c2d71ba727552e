package leadtime

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// String describes what was measured without a warm pool, and the number of starts with one: "3 of 10 starts measured",
// or "p90 of 14 starts: 11 on existing nodes 3m50s, 3 that waited for a node 9m20s".
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
	return fmt.Sprintf("%s: %d on existing nodes %s, %d that waited for a node %s", text,
		r.Placed.Count, humanize.Span(r.Placed.Histogram.quantile(Quantile)),
		r.Waited.Count, humanize.Span(r.Waited.Histogram.quantile(Quantile)))
}

// PoolSource describes the source of a lead time that a warm pool provides: "p90 of 11 starts on existing nodes, which
// warm pool h100 holds".
func (p Estimate) PoolSource(pool string) string {
	const text = "p%.0f of %d starts on existing nodes, which warm pool %s holds"
	return fmt.Sprintf(text, 100*Quantile, p.Starts, pool)
}
