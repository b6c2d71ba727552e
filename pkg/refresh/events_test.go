package refresh_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/hpa"
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

// A plain schedule is served one lead window before it begins. A condition says why its replicas do not run; without an autoscaler, also
// if it vanishes during the event, the forecast is served.
func TestReplicasAreServedOneLeadEarlier(t *testing.T) {
	now := noon.Add(3 * 24 * time.Hour)
	job, alone := jobOf("llama"), jobOf("alone")
	stock := hpa.Spec{Min: 1, Max: 1000, Metrics: []hpa.Metric{{Type: hpa.AverageValue, Target: 7333}}}
	job.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: stock}}
	office := calendar.Event{Name: "office", Start: "2026-11-21T12:20", Duration: time.Hour}
	other := office // Neither says anything about the demand, so they may overlap.
	office.Replicas, other.Name, other.Replicas = 500, "team", 3
	job.Events = []calendar.Event{office, other}
	jobs := fixedJobs{job, alone}
	loop, _ := newLoop(t, &demandSource{demand: daily}, jobs)
	for _, c := range []struct {
		after  time.Duration
		max    int32
		served float64
	}{{0, 1000, 0}, {20*time.Minute - job.Lead, 1000, 3666.5}, {50 * time.Minute, 400, 400 * 7.333}, {51 * time.Minute, 0, 0}, {90 * time.Minute, 1000, 0}} {
		jobs[0].Autoscalers, stock.Max = nil, c.max
		if c.max > 0 {
			jobs[0].Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: stock}}
		}
		s := loop.Step(t.Context(), now.Add(c.after))
		e, want, tolerance := entry(t, s, "llama"), c.served, 1e-9
		if want == 0 {
			want, tolerance = entry(t, s, "alone").Decision.Value, 2.0
		}
		unknown := slices.ContainsFunc(e.Conditions, func(one snapshot.Condition) bool {
			return one.Reason == "TargetUnknown" && strings.HasSuffix(one.Message, "or set spec.scaling.target")
		})
		if math.Abs(e.Decision.Value-want) > tolerance || unknown != (c.max == 0) {
			t.Errorf("after %s %v is served, want %v: %v", c.after, e.Decision.Value, want, e.Conditions)
		}
	}
}
