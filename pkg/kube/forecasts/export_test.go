package forecasts

import (
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// The pure part of the status, for tests that need no cluster.
var (
	StatusOf       = statusOf
	FormatQuantity = formatQuantity
	FormatPercent  = formatPercent
)

// The record of a workload's starts, to its status and back.
var (
	StartsOf = startsOf
	RecordIn = recordIn
)

// The record of what was served, to its status and back.
var (
	ServedRecordOf = servedRecordOf
	RecordFrom     = recordFrom
)

// UrgencyOf says in a word how much news there is between two statuses.
var UrgencyOf = func(before, after *v1alpha1.ForecastStatus) string {
	return map[writes.Urgency]string{writes.Unchanged: "silent", writes.Routine: "ordinary", writes.Urgent: "urgent"}[urgencyOf(before, after)]
}

// ShortenLeadTime is what is said of a Forecast that a pool covers from a time on.
var ShortenLeadTime = func(
	pool string, since time.Time, all manifest.MeasuredLeadTime, record *leadtime.Record, now time.Time,
) manifest.MeasuredLeadTime {
	return cover{pool, since}.shortenLeadTime(all, record, now)
}

// Problem is what keeps a replica from watching the pods of a workload, empty where it does.
var Problem = func(o *Objects, workload leadtime.Workload) string { return o.pods.Problem(workload) }

// SeenStarts is how many starts of a workload a replica has seen lately.
var SeenStarts = func(o *Objects, workload leadtime.Workload) int { return len(o.pods.Starts(workload)) }

// References are the references to a Forecast of the namespace default that a replica has seen.
var References = func(o *Objects, name string) []manifest.Reference {
	return o.autoscalers.References(snapshot.Key{Namespace: "default", Name: name})
}
