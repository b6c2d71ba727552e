package refresh

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// followLeaders decides the entries that follow others by the decisions of the same step. One that cannot keeps its own, with a condition.
func followLeaders(entries map[snapshot.Key]*snapshot.ForecastState, jobs []Job) {
	follows := map[snapshot.Key]bool{}
	for i := range jobs {
		if jobs[i].Leader != "" {
			follows[jobs[i].Key] = true
		}
	}
	for i := range jobs {
		t := &jobs[i]
		if t.Leader == "" {
			continue
		}
		e := entries[t.Key]
		if t.Invalid != "" || !e.State.Serves() || e.Decision.Pause.Active() {
			continue
		}
		at := snapshot.Key{Namespace: t.Key.Namespace, Name: t.Leader}
		leader, reason, message := leaderOf(t, e, entries[at], follows[at])
		if reason == "" {
			e.Decision = leader.Follow(e.Settings, e.Decision)
			continue
		}
		e.Conditions = append(e.Conditions, snapshot.Condition{
			Type: snapshot.ConditionFollow, Reason: reason, Message: message + ": its own forecast is served",
		})
	}
}

// leaderOf is whom a Forecast follows, or why it cannot.
func leaderOf(t *Job, e, by *snapshot.ForecastState, follows bool) (l decide.Leader, reason, message string) {
	switch {
	case by == nil || by.State == snapshot.Invalid:
		return l, reasonNoLeader, fmt.Sprintf("the namespace has no valid Forecast %.64s to follow", t.Leader)
	case follows:
		return l, reasonLeaderFollows, fmt.Sprintf("Forecast %.64s follows another one: name that one", t.Leader)
	case !by.State.Serves() || by.Decision.Pause.Active():
		return l, reasonLeaderNotServing, fmt.Sprintf("Forecast %.64s serves no forecast to follow", t.Leader)
	}
	l = decide.Leader{
		Name:  t.Leader,
		Value: by.Decision.WouldLead(),
		Ratio: decide.Ratio{Usual: t.Ratio, Low: t.Ratio, High: t.Ratio},
	}
	if t.Ratio == 0 {
		var known bool
		if l.Ratio, known = decide.LearnRatio(e.Recent, by.Recent); !known {
			return l, reasonRatioUnknown, fmt.Sprintf(
				"how many times the demand of Forecast %.64s this one is, is not known yet",
				t.Leader,
			)
		}
	}
	return l, "", ""
}
