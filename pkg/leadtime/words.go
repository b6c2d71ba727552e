package leadtime

import (
	"fmt"
	"strings"
	"time"
)

// String says in words what was measured: "3 of 10 starts measured", or "p90 of 14 starts: 11 on nodes that were there
// 3m50s, 3 that waited for a node 9m20s".
func (r *Record) String() string {
	if r.Starts() < Enough {
		return fmt.Sprintf("%d of %d starts measured", r.Starts(), Enough)
	}
	text := fmt.Sprintf("p%.0f of %d starts", 100*Level, r.Starts())
	switch {
	case r.waited.count == 0:
		return text + ", all on nodes that were there"
	case r.placed.count == 0:
		return text + ", all of which waited for a node"
	}
	return fmt.Sprintf("%s: %d on nodes that were there %s, %d that waited for a node %s", text,
		r.placed.count, span(r.placed.histogram.quantile(Level)),
		r.waited.count, span(r.waited.histogram.quantile(Level)))
}

// span writes a duration without zeros at its end: 5m, not 5m0s.
func span(d time.Duration) string {
	text := d.String()
	if d >= time.Minute && d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d >= time.Hour && d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
