package report

import (
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// describeCapacity is the assumption that all figures rest on, in a line.
func describeCapacity(a *compare.Assumptions) string {
	if a.CapacityAssumed {
		return "No replica capacity was given. A replica is assumed to sustain " + humanize.Number(a.Capacity) +
			", the autoscaler's target. All figures depend on it."
	}
	return "A replica sustains " + humanize.Number(a.Capacity) + " (given). The autoscaler's target is " +
		humanize.Number(a.Target) + "."
}

// formatMinutes has a tenth of one; a dash where none are known.
func formatMinutes(d time.Duration) string {
	if d == 0 {
		return humanize.Unknown
	}
	return strconv.FormatFloat(d.Minutes(), 'f', 1, 64)
}

// formatDecimal is a number with so many digits after its point.
func formatDecimal(v float64, digits int) string {
	if !humanize.Known(v) {
		return humanize.Unknown
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// formatDates is from the first day of a history to its last.
func formatDates(a *compare.Assumptions) string {
	const day = "2 January 2006"
	return a.Start.UTC().Format(day) + " to " + a.Start.Add(a.Duration).UTC().Format(day)
}
