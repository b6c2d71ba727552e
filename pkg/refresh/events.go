package refresh

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// eventsCondition is present while events contradict each other, or are not what came.
func eventsCondition(e *snapshot.ForecastState) (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionEvents}
	var next []event.Occurrence
	for i := range e.Events {
		one := &e.Events[i]
		switch {
		case one.Failed():
			last := one.Effects[len(one.Effects)-1]
			came := humanize.Number(last.Times) + " times the usual demand"
			if one.AtLeast > 0 {
				came = "at most " + humanize.Number(last.Most)
			}
			c.Reason = reasonNoEffect
			c.Message = fmt.Sprintf("event %s had no effect twice: the demand of %s was %s; remove it, or correct it",
				one.Occurrence, formatTime(last.Start), came)
			return c, true
		case one.LikeLast && len(one.Effects) == 0:
			c.Reason = reasonNoLast
			const text = "event %s is like its last occurrence, and the history has none: nothing is known of it on %s"
			c.Message = fmt.Sprintf(text, one.Name, formatTime(one.Start))
		}
		next = append(next, one.Occurrence)
	}
	if a, b, ok := event.Overlap(next); ok && c.Reason == "" {
		c.Reason = reasonOverlap
		c.Message = fmt.Sprintf("events %s and %s are both at %s: the greater counts", a, b, formatTime(b.Start))
	}
	return c, c.Reason != ""
}
