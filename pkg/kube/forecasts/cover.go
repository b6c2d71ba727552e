package forecasts

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Covers knows which warm pools cover Forecasts. It is called at every step, for each Forecast with a measured lead
// time, under a lock of the Objects: it must answer from memory and must not call them.
type Covers interface {
	// Covered returns the warm pool that covers a Forecast, and since when; ok is false if no pool does.
	Covered(namespace, forecast string) (pool string, since time.Time, ok bool)
}

// SetCovers sets the warm pools. A Forecast that a pool covers looks ahead by the lead time of a pod on an existing
// node. Call it before Run, with pools that were read: a Forecast that is resolved before its pool is rebuilt when
// the pool is known.
func (o *Objects) SetCovers(by Covers) { o.covers = by }

// EventSource knows the events of the namespaces. It is called at every step, for each Forecast, under a lock of the Objects: it must answer
// from memory and must not call them.
type EventSource interface {
	// Of returns the events of a Forecast. It returns the same list until something changes.
	Of(key snapshot.Key) []calendar.Event
	// Changes notifies subscribers of each change.
	Changes() *changes.Feed
}

// SetEventSource sets the events of the namespaces. Call it before Run, with events that were read.
func (o *Objects) SetEventSource(from EventSource) {
	o.events = from
	from.Changes().AddListener(o.changed)
}

// Fleets knows which Forecasts are members of fleets. It is called at every step, for each Forecast, under a lock of the Objects: it must
// answer from memory and must not call them.
type Fleets interface {
	// HasMember reports whether a valid fleet lists a Forecast.
	HasMember(forecast snapshot.Key) bool
}

// SetFleets sets the fleets. A Forecast that is a member of one keeps its served peaks. Call it before Run, with fleets that were read.
func (o *Objects) SetFleets(all Fleets) { o.fleets = all }

// cover is the pool that covers a Forecast; the zero value if there is none. since may be a little in the future, so that all replicas
// switch at the same time.
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

// shortenLeadTime replaces the lead time of all starts by the lead time of starts on existing nodes while a pool covers the Forecast.
// Changes are damped and announced in the same way as changes of the full lead time. As a result, all replicas agree, and noise causes no
// refit. When the cover ends, the longer lead time applies immediately, which is the safe side.
func (c cover) shortenLeadTime(
	all manifest.MeasuredLeadTime, record *leadtime.Record, now time.Time,
) manifest.MeasuredLeadTime {
	from := time.Unix(record.PlacedLead.Since, 0)
	if c.since.After(from) {
		from = c.since
	}
	placed, next := record.Estimates(now).Placed, record.Estimates(from).Placed
	switch {
	case !next.Known:
		all.Source += fmt.Sprintf(
			"; warm pool %s is ready for this Forecast, but only %d starts on existing nodes were measured",
			c.pool,
			next.Starts,
		)
		return all
	case now.Before(c.since) || !placed.Known:
		all.Source += " " + announcement(next.Lead, from, ", because warm pool "+c.pool+" holds nodes")
		return all
	case all.Lead > 0 && placed.Lead >= all.Lead:
		all.Source += fmt.Sprintf(
			"; warm pool %s is ready for this Forecast, but does not shorten the lead time",
			c.pool,
		)
		return all
	}
	words := placed.PoolSource(c.pool)
	if all.Lead > 0 {
		words += fmt.Sprintf("; %s without the pool", all.Lead)
	}
	if now.Before(from) {
		words += " " + announcement(next.Lead, from, "")
	}
	return manifest.MeasuredLeadTime{Lead: placed.Lead, Median: placed.Median, Source: words, Pool: c.pool}
}

// markHeld marks the starts of pods that were created while the pool covered the Forecast. A start that is counted only after the cover has
// ended is not marked.
func (c cover) markHeld(starts []leadtime.Start) []leadtime.Start {
	for i := range starts {
		starts[i].Held = c.pool != "" && !starts[i].Created.Before(c.since)
	}
	return starts
}

// Replicas returns how many replicas of a Forecast's target are on a node, and how many wait for one; known is false
// while that is unknown, and for a Forecast that does not exist or is invalid. See workloads.Watch.Replicas.
func (o *Objects) Replicas(key snapshot.Key) (placed, waiting int, known bool) {
	r, known := o.pods.Replicas(o.resolutionOf(key).workload)
	return r.Placed, r.Living - r.Placed, known
}

// Pods returns the UIDs of the pods of a Forecast's target and of its variants, including those that are terminating; known is false while
// those of one of them are unknown. A variant in another cluster has none.
func (o *Objects) Pods(key snapshot.Key) (uids []string, known bool) {
	r := o.resolutionOf(key)
	_, known = o.pods.Replicas(r.workload)
	uids = o.pods.Pods(r.workload)
	for _, workload := range r.variants {
		_, counted := o.pods.Replicas(workload)
		uids, known = append(uids, o.pods.Pods(workload)...), known && (counted || workload.Name == "")
	}
	return uids, known
}

// Starts returns the lead times of a Forecast's target on existing nodes, and with a new node, at a time; measured is
// false for a Forecast that does not exist, is invalid or in mode Fixed.
func (o *Objects) Starts(key snapshot.Key, now time.Time) (parts leadtime.Estimates, measured bool) {
	r := o.resolutionOf(key)
	if !r.measured {
		return leadtime.Estimates{}, false
	}
	return r.record.Estimates(now), true
}
