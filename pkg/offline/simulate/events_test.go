package simulate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// launches are minutes at which the demand is at once four times as large, for an hour.
func launches() []int { return []int{8*1440 + 610, 9*1440 + 1200, 11*1440 + 75, 12*1440 + 800} }

// announced are launches as events.
func announced(s forecast.Series, all []int) []calendar.Event {
	var out []calendar.Event
	for _, i := range all {
		begin := s.TimeAt(i)
		out = append(out, calendar.Event{
			Name: "launch of " + begin.Format("2 Jan"), Start: begin.Format("2006-01-02T15:04"), Duration: time.Hour,
			Knowledge: event.Knowledge{Times: 4},
		})
	}
	return out
}

// lateAbout is the demand, in replica-hours, that is late about launches, and what is paid about them and at all other times.
func lateAbout(t *testing.T, s forecast.Series, all []int, events []calendar.Event) (late, about, other float64) {
	t.Helper()
	c, of := played(s), objectiveConfig(t, s, 0.01)
	of.Adjust = event.Adjust(calendar.Of(events))
	step := 0
	c.Record = func(m sim.StepResult) {
		if slices.ContainsFunc(all, func(i int) bool { return step >= i-20 && step < i+80 }) {
			late, about = late+m.Late, about+float64(m.Held)/60
		} else if step > 7*1440 {
			other += float64(m.Held) / 60
		}
		step++
	}
	if _, err := simulate.Run(c, simulate.NewForewarm(of)); err != nil {
		t.Fatal(err)
	}
	return late, about, other
}

// Of a launch that is announced a tenth is late of what is late without; one that does not come costs its own capacity for its own time.
func TestAnnouncedLaunches(t *testing.T) {
	usual := daily(14, 44)
	s := forecast.Series{Start: usual.Start, Step: usual.Step, Values: slices.Clone(usual.Values)}
	for _, i := range launches() {
		for k := range 60 {
			s.Values[i+k] *= 4
		}
	}
	late, _, _ := lateAbout(t, s, launches(), announced(s, launches()))
	surprised, _, _ := lateAbout(t, s, launches(), nil)
	t.Logf("%.2f replica-hours are late about the launches, %.2f where no one knows of them", late, surprised)
	if late > surprised/10 || surprised < 1 {
		t.Errorf("%.2f replica-hours are late about the launches, %.2f where no one knows of them", late, surprised)
	}
	_, about, other := lateAbout(t, usual, launches(), announced(s, launches()))
	_, aboutNone, otherNone := lateAbout(t, usual, launches(), nil)
	t.Logf(
		"launches that do not come: %.1f replica-hours about them, %.1f without; %.1f and %.1f at other times",
		about,
		aboutNone,
		other,
		otherNone,
	)
	if about > 4.5*aboutNone || math.Abs(other-otherNone) > .02*otherNone {
		t.Errorf(
			"launches that do not come cost %.1f replica-hours, %.1f without; %.1f and %.1f at other times",
			about,
			aboutNone,
			other,
			otherNone,
		)
	}
}
