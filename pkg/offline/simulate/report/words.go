package report

import (
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// capacity is the assumption that all figures rest on, in a line.
func capacity(a *compare.Assumptions) string {
	if a.CapacityAssumed {
		return "Assumed: a replica sustains " + humanize.Number(a.Capacity) +
			", the autoscaler's own target, as no capacity was given. Every figure rests on it."
	}
	return "A replica sustains " + humanize.Number(a.Capacity) + ", as given; the autoscaler's target is " +
		humanize.Number(a.Target) + "."
}

// minutes has a tenth of one; a dash where none are known.
func minutes(d time.Duration) string {
	if d == 0 {
		return humanize.Unknown
	}
	return strconv.FormatFloat(d.Minutes(), 'f', 1, 64)
}

// decimal is a number with so many digits after its point.
func decimal(v float64, digits int) string {
	if !humanize.Known(v) {
		return humanize.Unknown
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// period is from the first day of a history to its last.
func period(a *compare.Assumptions) string {
	const day = "2 January 2006"
	return a.Start.UTC().Format(day) + " to " + a.Start.Add(a.Duration).UTC().Format(day)
}
