package forecasts

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Covers are the warm pools that stand ready for Forecasts. It is asked at every step, for each Forecast whose lead time
// is measured, under a lock of the Objects: it answers from memory, and asks nothing of them.
type Covers interface {
	// Covered says which warm pool stands ready for a Forecast, and from when on; ok is false where none does.
	Covered(namespace, forecast string) (pool string, since time.Time, ok bool)
}

// Cover has the Forecasts for which a warm pool stands ready look ahead no further than a pod takes on a node that is
// there. It is not to be called while the watch runs. The pools should be known before it does: a Forecast that is resolved
// before its pool would be learnt anew when that is known.
func (o *Objects) Cover(by Covers) { o.covers = by }

// cover is the pool that stands ready for a Forecast, from a time on that may lie a little ahead, so that all replicas
// change over at once; the zero value where there is none.
type cover struct {
	pool  string
	since time.Time
}

func (o *Objects) coverOf(key snapshot.Key) cover {
	if o.covers == nil {
		return cover{}
	}
	pool, since, ok := o.covers.Covered(key.Namespace, key.Name)
	if !ok {
		return cover{}
	}
	return cover{pool: pool, since: since}
}

// shorten is what was measured on all starts, held to those on nodes that were there from when the pool covers on. What
// it follows from rests and is announced as the whole lead time does, so that all replicas agree and no model is fitted
// anew for noise. Where the cover ends, the longer lead time is back at once: that is the direction in which nothing
// comes late.
func (c cover) shorten(all manifest.Measured, record *leadtime.Record, now time.Time) manifest.Measured {
	from := record.PlacedSince()
	if c.since.After(from) {
		from = c.since
	}
	placed, next := record.Parts(now).Placed, record.Parts(from).Placed
	switch {
	case !next.Enough:
		all.Words += fmt.Sprintf(
			"; warm pool %s covers it, but starts on nodes that were there are too few to go by: %d",
			c.pool,
			next.Starts,
		)
		return all
	case now.Before(c.since) || !placed.Enough:
		all.Words += " " + announced(next.Lead, from, ", as warm pool "+c.pool+" holds nodes")
		return all
	case all.Lead > 0 && placed.Lead >= all.Lead:
		all.Words += fmt.Sprintf("; warm pool %s covers it, which shortens nothing", c.pool)
		return all
	}
	words := placed.OnNodes(c.pool)
	if all.Lead > 0 {
		words += fmt.Sprintf("; %s without it", all.Lead)
	}
	if now.Before(from) {
		words += " " + announced(next.Lead, from, "")
	}
	return manifest.Measured{Lead: placed.Lead, Words: words, Pool: c.pool}
}

// mark says of starts whether the pool covered them when their pods were created. One that was folded only after the cover
// had ended counts as any other.
func (c cover) mark(starts []leadtime.Start) []leadtime.Start {
	for i := range starts {
		starts[i].Held = c.pool != "" && !starts[i].Created.Before(c.since)
	}
	return starts
}

// Places says how many replicas of a Forecast's target have a place on a node, and how many wait for one; known is false
// while that is not known, as for a Forecast that is not there or not valid. What counts as a replica: see
// workloads.Watch.Places.
func (o *Objects) Places(key snapshot.Key) (placed, waiting int, known bool) {
	return o.pods.Places(o.at(key).workload)
}

// Starts are the lead times of a Forecast's target on nodes that were there, and where it waited for one, at a time;
// measured is false for a Forecast that is not there, not valid or in mode Fixed.
func (o *Objects) Starts(key snapshot.Key, now time.Time) (parts leadtime.Parts, measured bool) {
	r := o.at(key)
	if !r.measured {
		return leadtime.Parts{}, false
	}
	return r.record.Parts(now), true
}
