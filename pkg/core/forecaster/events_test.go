package forecaster_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// announcing is the configuration with events, and an objective or a quantile.
func announcing(t *testing.T, byObjective bool, specs ...calendar.Event) forecaster.Config {
	t.Helper()
	c := config()
	if byObjective {
		c.Settings = decide.Settings{Late: .01, Wait: 30 * time.Second, Target: 10, Lead: 10 * time.Minute}
		c.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: stock(10)}}
	}
	for _, s := range specs {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	c.Adjust = event.Adjust(calendar.Of(specs))
	return c
}

// at is the index of a time of the day, days after the start.
func at(day int, hour float64) int { return day*288 + int(hour*12) }

// values are those that are served from the end of a history on, at each step of so many days.
func values(t *testing.T, c forecaster.Config, load func(int) float64, days, more int) (out []float64) {
	t.Helper()
	f := forecaster.New(c, history(days*288, load))
	for i := days * 288; i < (days+more)*288; i++ {
		f.Step(plain(load(i)))
		out = append(out, describe(f).Decision.Value)
	}
	return out
}

// during is a load that is another one from an hour of a day on, for so many hours.
func instead(load func(int) float64, from, until int, other func(v float64) float64) func(int) float64 {
	return func(i int) float64 {
		v := load(i)
		if i >= from && i < until {
			return other(v)
		}
		return v
	}
}

func quiet(seed uint64) func(int) float64 {
	rng := rand.New(rand.NewPCG(seed, 44))
	noise := make([]float64, 40*288)
	for i := range noise {
		noise[i] = 4 * rng.NormFloat64()
	}
	return func(i int) float64 {
		return 100 + 40*math.Sin(2*math.Pi*float64(i)/288) + noise[i]
	}
}

// An event is served a lead window before it begins, and nothing is left of it when it is over, whether it came or not.
func TestAnEventIsServed(t *testing.T) {
	const day = 9
	begins, ends := at(day, 10), at(day, 12)
	launch := calendar.Event{Name: "launch", Start: "2026-11-11T10:00", Duration: 2 * time.Hour}
	for name, tt := range map[string]struct {
		known event.Knowledge
		came  func(v float64) float64
		low   float64 // what is served at least, in addition to the load
	}{
		"times":            {event.Knowledge{Times: 3}, func(v float64) float64 { return 3 * v }, 2.6},
		"at least":         {event.Knowledge{AtLeast: 400}, func(float64) float64 { return 400 }, 2.6},
		"times, but not":   {event.Knowledge{Times: 3}, func(v float64) float64 { return v }, 2.6},
		"at least, if any": {event.Knowledge{AtLeast: 400}, func(v float64) float64 { return v }, 2.6},
		"less":             {event.Knowledge{Times: .25}, func(v float64) float64 { return v / 4 }, .2},
	} {
		for _, byObjective := range []bool{false, true} {
			spec := launch
			spec.Knowledge = tt.known
			usual := quiet(1)
			load := instead(usual, begins, ends, tt.came)
			got := values(t, announcing(t, byObjective, spec), load, day, 3)
			without := values(t, announcing(t, byObjective), usual, day, 3)
			for i := range got {
				index := day*288 + i
				switch late := index - begins; {
				case index < begins-4 && got[i] != without[i]:
					t.Fatalf(
						"%s, %v: %d steps before it begins %.0f is served, %.0f without",
						name,
						byObjective,
						-late,
						got[i],
						without[i],
					)
				case index >= begins-2 && index < ends-3 && got[i] < tt.low*usual(index):
					t.Fatalf(
						"%s, %v: %d steps after its begin %.0f is served, the load is %.0f",
						name,
						byObjective,
						late,
						got[i],
						load(index),
					)
				case name == "less" && index > begins+6 && index < ends-6 && got[i] > .5*without[i]:
					t.Fatalf(
						"%s, %v: %d steps after its begin %.0f is served, %.0f without",
						name,
						byObjective,
						late,
						got[i],
						without[i],
					)
				case index >= ends+12 && (got[i] > 1.2*without[i] || got[i] < .8*without[i]):
					t.Fatalf(
						"%s, %v: %d steps after its end %.0f is served, %.0f without",
						name,
						byObjective,
						index-ends,
						got[i],
						without[i],
					)
				}
			}
		}
	}
}

// A holiday is served as the day of the week that it is like, and the days after it as they would be.
func TestAHolidayIsLikeASunday(t *testing.T) {
	noise := quiet(2)
	week := func(i int) float64 {
		v := 40 + noise(i) - 100*.9
		if weekday := start.Add(time.Duration(i) * step).Weekday(); weekday != time.Sunday && weekday != time.Saturday {
			if hour := i % 288 / 12; hour >= 9 && hour < 17 {
				v += 400
			}
		}
		return math.Max(v, 1)
	}
	const holiday = 16 // A Wednesday, 2026-11-18.
	sunday := func(i int) float64 {
		if i/288 == holiday {
			return week(i - 3*288)
		}
		return week(i)
	}
	day := time.Sunday
	spec := calendar.Event{
		Name:      "day of repentance",
		Start:     "2026-11-18",
		Duration:  windowpeak.Day,
		Knowledge: event.Knowledge{LikeDay: &day},
	}
	for name, load := range map[string]func(int) float64{"it is one": sunday, "it is none": week} {
		got, without := values(t, announcing(t, false, spec), load, 15, 9), values(t, announcing(t, false), load, 15, 9)
		usual := values(t, announcing(t, false), week, 15, 9)
		morning := func(served []float64) float64 {
			return slices.Max(served[at(1, 8.5):at(1, 9.5)]) / load(at(holiday, 9))
		}
		if name == "it is one" && (morning(got) > 1.5 || morning(without) < 3) {
			t.Errorf(
				"%s: %.2f of the load is served at nine, %.2f without the event",
				name,
				morning(got),
				morning(without),
			)
		}
		for i := at(2, 3); i < at(4, 0); i++ {
			if math.Abs(got[i]-usual[i]) > .3*usual[i]+20 {
				t.Fatalf(
					"%s: %d steps after it %.0f is served, %.0f without a holiday",
					name,
					i-at(2, 0),
					got[i],
					usual[i],
				)
			}
		}
	}
}

// An occurrence of an event is served as the one before it was, and not as an older one.
func TestAnEventIsLikeItsLast(t *testing.T) {
	usual := quiet(3)
	peak := func(v float64) float64 { return 5 * v }
	load := instead(instead(usual, at(2, 8), at(2, 9), peak), at(9, 8), at(9, 9), peak)
	spec := calendar.Event{
		Name:       "report",
		Start:      "2026-11-04T08:00",
		Duration:   time.Hour,
		Recurrence: "FREQ=WEEKLY",
		Knowledge:  event.Knowledge{LikeLast: true},
	}
	check := func(load func(int) float64, day int) {
		t.Helper()
		got := values(t, announcing(t, false, spec), load, day, 1)
		for i := at(0, 8) - 2; i < at(0, 9)-3; i++ {
			if got[i] < 4*usual(day*288+i) {
				t.Fatalf(
					"%d steps after its begin %.0f is served, the load is %.0f",
					i-at(0, 8),
					got[i],
					load(day*288+i),
				)
			}
		}
	}
	check(load, 9)
	smaller := instead(usual, at(2, 8), at(2, 9), func(v float64) float64 { return 1.5 * v })
	check(instead(instead(smaller, at(9, 8), at(9, 9), peak), at(16, 8), at(16, 9), peak), 16)
}

// What is to be ignored is served as it is observed, and not learnt.
func TestALoadTestIsIgnored(t *testing.T) {
	usual := quiet(4)
	load := instead(usual, at(9, 8), at(9, 10), func(v float64) float64 { return 10 * v })
	spec := calendar.Event{
		Name:      "load test",
		Start:     "2026-11-11T08:00",
		Duration:  2 * time.Hour,
		Knowledge: event.Knowledge{Ignored: true},
	}
	got, without := values(t, announcing(t, false, spec), load, 9, 2), values(t, announcing(t, false), usual, 9, 2)
	for i := range got {
		switch index := 9*288 + i; {
		case index >= at(9, 8)+2 && index < at(9, 10) && got[i] < load(index)*.9:
			t.Fatalf("%.0f is served in it, the load is %.0f", got[i], load(index))
		case index >= at(9, 10)+3 && got[i] > 1.2*without[i]:
			t.Fatalf("%d steps after its end %.0f is served, %.0f without", index-at(9, 10), got[i], without[i])
		}
	}
}

// What events came to is known when they are over.
func TestWhatEventsCameTo(t *testing.T) {
	usual := quiet(5)
	load := instead(usual, at(7, 8), at(7, 9), func(v float64) float64 { return 3 * v })
	spec := calendar.Event{
		Name:       "sale",
		Start:      "2026-11-07T08:00",
		Duration:   time.Hour,
		Recurrence: "FREQ=DAILY",
		Knowledge:  event.Knowledge{Times: 3},
	}
	f := forecaster.New(announcing(t, false, spec), history(9*288, load))
	e := describe(f)
	if len(e.Events) != 1 {
		t.Fatalf("events %+v", e.Events)
	}
	got := e.Events[0]
	if got.Name != "sale" || !got.Start.Equal(start.Add(time.Duration(at(9, 8))*step)) || len(got.Effects) != 2 ||
		math.Abs(got.Effects[0].Times-3) > .3 || math.Abs(got.Effects[1].Times-1) > .1 || got.Failed() {
		t.Errorf("%+v", got)
	}
	e = describe(forecaster.New(announcing(t, false, spec), history(at(10, 7.9), load)))
	if !e.Events[0].Failed() || !strings.Contains(e.Decision.Reason(), "sale (3 times the demand)") {
		t.Errorf("it came to nothing twice: %+v, %s", e.Events[0], e.Decision.Reason())
	}
}

// A plain schedule serves its replicas one lead window before it begins, and until it ends. What is served otherwise is the same, and more
// demand still counts. Of several schedules the largest number counts.
func TestReplicasOfASchedule(t *testing.T) {
	busy := instead(quiet(6), at(9, 15), at(9, 16), func(v float64) float64 { return 5 * v })
	office := calendar.Event{Name: "office", Start: "2026-11-02T08:00", Duration: 10 * time.Hour}
	noon := calendar.Event{Name: "noon", Start: "2026-11-11T12:00", Duration: 90 * time.Minute}
	office.Recurrence, noon.Recurrence = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=HOURLY;COUNT=2"
	office.Replicas, noon.Replicas = 30, 40
	for _, byObjective := range []bool{true, false} {
		c, without := announcing(t, byObjective, office, noon), announcing(t, byObjective)
		c.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: stock(10)}}
		lead := int(c.Window / step)
		got, plain := values(t, c, busy, 9, 1), values(t, without, busy, 9, 1)
		for i, v := range got {
			want := plain[i]
			in := func(from, until float64) bool { return i+1+lead > at(0, from) && i < at(0, until) } // Step i ends at i+1.
			if in(8, 18) {
				want = math.Max(want, 300)
			}
			if in(12, 14.5) {
				want = math.Max(want, 400)
			}
			if v != want && (!byObjective || math.Abs(v-want) > .1*want) {
				t.Fatalf("by objective %v, %d steps after midnight: %v is served, want %v", byObjective, i, v, want)
			}
		}
		if most := slices.Max(got); most < 450 {
			t.Errorf("at most %v is served, and the demand is higher", most)
		}
	}
	c := announcing(t, false, office)
	c.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: stock(10)}}
	if got := forecaster.New(c, history(at(9, 8), quiet(6))).Fallback().Value; got != 300 {
		t.Errorf("the fallback is %v", got)
	}
}
