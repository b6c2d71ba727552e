package refresh_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// What is known of an event is served before it begins, and its reason says so; events that are not what came, or contradict each other,
// are a condition.
func TestEventsAreServedAndJudged(t *testing.T) {
	const from = "2006-01-02T15:04"
	now := noon.Add(3 * 24 * time.Hour)
	soon := calendar.Event{
		Name:      "launch",
		Start:     now.Add(3 * time.Minute).Format(from),
		Duration:  time.Hour,
		Knowledge: event.Knowledge{Times: 4},
	}
	failing := calendar.Event{
		Name:       "sale",
		Start:      now.Add(-50 * time.Hour).Format(from),
		Duration:   time.Hour,
		Recurrence: "FREQ=DAILY",
		Knowledge:  event.Knowledge{AtLeast: 1e4},
	}
	unseen := calendar.Event{
		Name:      "report",
		Start:     now.Add(30 * time.Hour).Format(from),
		Duration:  time.Hour,
		Knowledge: event.Knowledge{LikeLast: true},
	}
	other := calendar.Event{
		Name:      "holiday",
		Start:     now.Add(time.Minute).Format(from),
		Duration:  time.Hour,
		Knowledge: event.Knowledge{AtLeast: 100},
	}
	for reason, events := range map[string][]calendar.Event{
		"":                 {soon},
		"NoEffect":         {soon, failing},
		"NoLastOccurrence": {soon, unseen},
		"Overlap":          {soon, other},
	} {
		job := jobOf("llama")
		plain := jobOf("plain")
		job.Events = events
		loop, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{job, plain})
		s := loop.Step(t.Context(), now)
		e, without := entry(t, s, "llama"), entry(t, s, "plain")
		if v := e.Decision.Value; v < 3*without.Decision.Value ||
			!strings.Contains(e.Decision.Reason(), "launch (4 times the demand)") {
			t.Errorf(
				"%s: %.0f is served, %.0f without an event: %s",
				reason,
				v,
				without.Decision.Value,
				e.Decision.Reason(),
			)
		}
		got := ""
		for _, c := range e.Conditions {
			if c.Type == snapshot.ConditionEvents {
				got = c.Reason
				t.Log(c.Message)
			}
		}
		if got != reason || len(e.Events) != len(events) {
			t.Errorf("condition %q, want %q; %d events", got, reason, len(e.Events))
		}
	}
}
