package refresh

import (
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// unitSaid is how long the condition of a changed unit stays.
const unitSaid = 24 * time.Hour

// units are the changes of the demand's unit in the history. What was read before one counts in the new unit.
type units struct {
	changes []demand.UnitChange
	// start is the start of the history that was searched, searched its end.
	start, searched time.Time
}

// unitTail is how much of the history shows that there is no change at its end.
const unitTail = 3 * time.Hour

// findUnitChanges searches the history up to an end, and reports whether other changes are known than before. It depends on the history
// since the anchor alone, so all replicas find the same at the same time. Changed is the oldest sample that has changed; zero for none.
func (w *worker) findUnitChanges(end, changed time.Time) bool {
	u, block := &w.units, demand.UnitBlock(w.job.Step)
	start, tail := align(w.anchorAt(end).Add(-w.job.History), w.job.Step), end.Add(-unitTail)
	again := !changed.IsZero()
	all := !start.Equal(u.start) || again && (len(u.changes) > 0 || changed.Before(tail.Add(unitTail/2)))
	if !all && !again && !align(end, block).After(align(u.searched, block)) {
		return false
	}
	u.start, u.searched = start, end
	if !all && !demand.MayChangeUnit(w.demand(tail, end)) {
		return false
	}
	before := u.changes
	u.changes = demand.UnitChanges(w.demand(start, end), w.seasons[0], w.anchorAt(end))
	return !slices.Equal(before, u.changes)
}

// newest is the newest change of the unit at an end; nil where none is new.
func (u *units) newest(end time.Time) *demand.UnitChange {
	if n := len(u.changes); n > 0 && end.Sub(u.changes[n-1].To) < unitSaid {
		return &u.changes[n-1]
	}
	return nil
}

// unitCondition says that the unit has changed.
func unitCondition(c *demand.UnitChange) snapshot.Condition {
	times := fmt.Sprintf("%.6g times", c.Factor)
	if c.Factor < 1 {
		times = fmt.Sprintf("1/%.6g of", 1/c.Factor)
	}
	return snapshot.Condition{
		Type:   snapshot.ConditionData,
		Reason: snapshot.ReasonUnitChanged,
		Message: fmt.Sprintf(
			"since %s the demand is %s what it was, at once, with the same shape: its unit has probably changed at "+
				"the exporter or in a recording rule; the history before counts in the new unit, and the value is in the new unit, so "+
				"check that the autoscaler's target is, too",
			formatTime(c.To),
			times,
		),
	}
}
