package report

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// closeness is how long the stretch is in which the most was late; half of it is shown before and after, so that a rise
// and what came too late for it can be told apart.
const closeness = 4 * time.Hour

// closeup is a part of two courses: of forewarm and of the autoscaler with its best target.
type closeup struct {
	When    string
	Courses []course
}

// newCloseup shows the stretch in which the most was late under both together; nil where the history is short, or nothing
// was late.
func newCloseup(c *compare.Comparison) *closeup {
	best, ours := policy(c, compare.BestTarget), policy(c, compare.Forewarm)
	if best == nil || ours == nil || len(best.Course) != len(ours.Course) || len(ours.Course) < 2 {
		return nil
	}
	long := int(closeness / ours.Course[1].Start.Sub(ours.Course[0].Start))
	if long < 6 || len(ours.Course) < 8*long {
		return nil
	}
	from, some := latest(best.Course, ours.Course, long)
	if !some {
		return nil
	}
	first, end := max(from-long/2, 0), min(from+long+long/2, len(ours.Course))
	parts := []compare.Policy{*best, *ours}
	for i := range parts {
		parts[i].Course = parts[i].Course[first:end]
	}
	return &closeup{When: between(parts[0].Course), Courses: courses(parts, "closeup")}
}

// between is from when to when a course is, with the day once where it is one.
func between(all []compare.Slot) string {
	const day, clock = "2 January", "15:04"
	from, to := all[0].Start.UTC(), ending(all).UTC()
	text := from.Format(day+" "+clock) + " to "
	if from.Format(day) != to.Format(day) {
		text += to.Format(day) + " "
	}
	return text + to.Format(clock) + " UTC"
}

// latest is where a stretch of so many slots begins in which the most was late; false where nothing was.
func latest(a, b []compare.Slot, long int) (int, bool) {
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
