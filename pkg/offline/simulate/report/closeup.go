package report

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// closeupLength is the length of the interval with the most late demand. Half of it is shown before and after, so
// that the rise is visible.
const closeupLength = 4 * time.Hour

// closeup is a part of two courses: of forewarm and of the autoscaler before.
type closeup struct {
	When      string
	Timelines []timelineChart
}

// newCloseup shows the stretch in which the most was late under both together; nil where the history is short, or nothing
// was late.
func newCloseup(c *compare.Comparison) *closeup {
	before, ours := c.Find(compare.HPA), c.Find(compare.Forewarm)
	if before == nil || ours == nil || len(before.Timeline) != len(ours.Timeline) || len(ours.Timeline) < 2 {
		return nil
	}
	long := int(closeupLength / ours.Timeline[1].Start.Sub(ours.Timeline[0].Start))
	if long < 6 || len(ours.Timeline) < 8*long {
		return nil
	}
	from, some := latestStretch(before.Timeline, ours.Timeline, long)
	if !some {
		return nil
	}
	first, end := max(from-long/2, 0), min(from+long+long/2, len(ours.Timeline))
	parts := []compare.PolicyResult{*before, *ours}
	for i := range parts {
		parts[i].Timeline = parts[i].Timeline[first:end]
	}
	return &closeup{When: formatPeriod(parts[0].Timeline), Timelines: timelineCharts(parts, "closeup")}
}

// formatPeriod is from when to when a course is, with the day once where it is one.
func formatPeriod(all []compare.Slot) string {
	const day, clock = "2 January", "15:04"
	from, to := all[0].Start.UTC(), endOf(all).UTC()
	text := from.Format(day+" "+clock) + " to "
	if from.Format(day) != to.Format(day) {
		text += to.Format(day) + " "
	}
	return text + to.Format(clock) + " UTC"
}

// latestStretch is where a stretch of so many slots begins in which the most was late; false where nothing was.
func latestStretch(a, b []compare.Slot, long int) (int, bool) {
	from, most := 0, 0.0
	for i := range len(a) - long + 1 {
		sum := 0.0
		for j := i; j < i+long; j++ {
			if v := a[j].Late*max(a[j].Demand, 0) + b[j].Late*max(b[j].Demand, 0); humanize.Known(v) {
				sum += v
			}
		}
		// A difference by rounding is no reason to move on.
		if sum > most*(1+1e-9) {
			from, most = i, sum
		}
	}
	return from, most > 0
}
