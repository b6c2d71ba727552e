package refresh

import (
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// applyPause replaces the value of an entry that is not published yet. The worker knows nothing of it: it learns on, and its forecast
// serves at the step at which the pause ends.
func applyPause(e *snapshot.ForecastState, p decide.Pause) {
	if p == (decide.Pause{}) {
		return
	}
	c := snapshot.Condition{
		Type: snapshot.ConditionPaused, True: p.Active(), Reason: reasonAsBefore, Message: p.Message(),
	}
	switch {
	case p.Invalid != "":
		c.Reason = reasonInvalidAnnotation
	case p.Assumed != "":
		c.Reason = reasonBeforeAssumed
	}
	e.Conditions = append(e.Conditions, c)
	if !p.Active() || !e.State.Serves() {
		return
	}
	steps := min(1+int((p.Hold+e.Step-1)/e.Step), len(e.Newest))
	held := series.MaxKnown(e.Newest[len(e.Newest)-steps:]...)
	e.Decision = p.Apply(e.Decision, series.MaxKnown(e.Observed, held))
	e.Settings.Mode = decide.Shadow // So the comparison says what Forewarm would have come to.
}
