package event_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/event"
)

const step = 5 * time.Minute

// monday is midnight, as hours are counted.
func monday() time.Time { return time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC) }

// calendarOf has some occurrences.
func calendarOf(all ...event.Occurrence) event.Calendar {
	return func(from, to time.Time) (out []event.Occurrence) {
		for _, o := range all {
			if o.Start.Before(to) && o.End.After(from) {
				out = append(out, o)
			}
		}
		return out
	}
}

// occurrence is an hour of an event.
func occurrence(name string, after time.Duration, k event.Knowledge) event.Occurrence {
	start := monday().Add(after)
	return event.Occurrence{
		Name: name, Start: start, End: start.Add(time.Hour), Weekday: start.Weekday(), Knowledge: k,
	}
}

// learntOver lets an adjustment learn a demand from Monday on, and returns what candidates learnt last.
func learntOver(a adjust.Adjustment, lasts time.Duration, of func(time.Time) float64) demand.Sample {
	var out demand.Sample
	for at := monday(); at.Before(monday().Add(lasts)); at = at.Add(step) {
		out = a.Learn(at, demand.Sample{Value: of(at), Observed: of(at)})
	}
	return out
}

func ten(time.Time) float64 { return 10 }

func TestWhatIsAnnounced(t *testing.T) {
	const day = 24 * time.Hour
	tuesday := time.Tuesday
	for name, c := range map[string]struct {
		known  event.Knowledge
		demand func(time.Time) float64
		want   adjust.Effect
		words  string
	}{
		"a multiple":    {known: event.Knowledge{Times: 3}, demand: ten, want: adjust.Effect{Times: 3}, words: "launch (3 times the demand)"},
		"a level":       {known: event.Knowledge{AtLeast: 40}, demand: ten, want: adjust.Effect{Times: 1, More: 30, AtLeast: 40}, words: "launch (at least 40)"},
		"a lower level": {known: event.Knowledge{AtLeast: 4}, demand: ten, want: adjust.Effect{Times: 1, AtLeast: 4}, words: "launch (at least 4)"},
		"replicas":      {known: event.Knowledge{Replicas: 5}, demand: ten, want: adjust.Effect{Times: 1, Replicas: 5}, words: "launch (at least 5 replicas)"},
		"as on another day": {known: event.Knowledge{LikeDay: &tuesday}, demand: func(at time.Time) float64 {
			if at.Weekday() == time.Tuesday {
				return 30
			}
			return 10
		}, want: adjust.Effect{Times: 3}, words: "launch (like a Tuesday)"},
		"nothing to learn": {known: event.Knowledge{Ignored: true}, demand: ten, want: adjust.Nothing(), words: "launch (models do not learn from it)"},
	} {
		t.Run(name, func(t *testing.T) {
			o := occurrence("launch", 9*day, c.known)
			a := event.Adjust(calendarOf(o))[0](step)
			learntOver(a, 9*day-step, c.demand)
			if got := a.Over(o.Start, o.Start.Add(step)); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if got := a.Over(o.End, o.End.Add(step)); got != adjust.Nothing() {
				t.Errorf("%+v is known after it", got)
			}
			if diff := cmp.Diff([]string{c.words}, a.Words(o.Start, o.End)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if event.Adjust(nil) != nil {
		t.Error("without a calendar something is made")
	}
}

// Of an event that comes as announced nothing is learnt, of one that does not come neither, and nothing at all where it is ignored.
func TestWhatIsLearntOfAnEvent(t *testing.T) {
	begins := 30 * time.Hour
	for name, c := range map[string]struct {
		known        event.Knowledge
		demand, want float64
	}{
		"as announced":   {event.Knowledge{Times: 3}, 30, 10},
		"no effect":      {event.Knowledge{Times: 3}, 10, 10},
		"half of it":     {event.Knowledge{Times: 3}, 20, 10},
		"more than that": {event.Knowledge{Times: 3}, 60, 20},
		"a level":        {event.Knowledge{AtLeast: 40}, 40, 10},
		"replicas":       {event.Knowledge{Replicas: 5}, 40, 40},
		"ignored":        {event.Knowledge{Ignored: true}, 500, math.NaN()},
		"a gap":          {event.Knowledge{Times: 3}, math.NaN(), math.NaN()},
	} {
		a := event.Adjust(calendarOf(occurrence("launch", begins, c.known)))[0](step)
		got := learntOver(a, begins+step, func(at time.Time) float64 {
			if at.Before(monday().Add(begins)) {
				return 10
			}
			return c.demand
		}).Value
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v is learnt, want %v", name, got, c.want)
		}
	}
}

// The last occurrence of a name is what the next one is like, and what its announcement is judged by.
func TestTheLastOccurrence(t *testing.T) {
	first := occurrence("sale", 24*time.Hour, event.Knowledge{LikeLast: true})
	next := occurrence("sale", 72*time.Hour, event.Knowledge{LikeLast: true})
	a := event.Adjust(calendarOf(first, next))[0](step)
	learntOver(a, 71*time.Hour, func(at time.Time) float64 {
		if !at.Before(first.Start) && at.Before(first.End) {
			return 80
		}
		return 10
	})
	if got := a.Over(next.Start, next.End); got.AtLeast != 80 || got.On(10) != 80 {
		t.Errorf("%+v is known of the next", got)
	}
	announced, ok := a.(*event.Announced)
	if !ok {
		t.Fatalf("%T is made", a)
	}
	all := announced.Describe(monday().Add(71 * time.Hour))
	if len(all) != 1 || !all[0].Start.Equal(next.Start) || len(all[0].Effects) != 1 {
		t.Fatalf("%+v", all)
	}
	if e := all[0].Effects[0]; e.Most != 80 || !e.Start.Equal(first.Start) || all[0].Failed() {
		t.Errorf("%+v", e)
	}
}
