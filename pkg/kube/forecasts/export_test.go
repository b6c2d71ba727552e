package forecasts

import (
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// The pure part of the status, for tests that need no cluster.
var (
	StatusOf = statusOf
	Quantity = quantity
	Percent  = percent
)

// The record of a workload's starts, to its status and back.
var (
	StartsOf = startsOf
	RecordIn = recordIn
)

// Noticed says in a word how much news there is between two statuses.
var Noticed = func(before, after *v1alpha1.ForecastStatus) string {
	return map[news]string{silent: "silent", ordinary: "ordinary", urgent: "urgent"}[compare(before, after)]
}

// Shortened is what is said of a Forecast that a pool covers from a time on.
var Shortened = func(
	pool string, since time.Time, all manifest.Measured, record *leadtime.Record, now time.Time,
) manifest.Measured {
	return cover{pool, since}.shorten(all, record, now)
}

// Problem is what keeps a replica from watching the pods of a workload, empty where it does.
var Problem = func(o *Objects, workload leadtime.Workload) string { return o.pods.Problem(workload) }

// Seen is how many starts of a workload a replica has seen lately.
var Seen = func(o *Objects, workload leadtime.Workload) int { return len(o.pods.Starts(workload)) }

// Referring are the references to a Forecast of the namespace default that a replica has seen.
var Referring = func(o *Objects, name string) []autoscaler.Reference {
	return o.autoscalers.To(snapshot.Key{Namespace: "default", Name: name})
}
