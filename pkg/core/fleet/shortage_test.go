package fleet_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// hourly returns a member with a target of 1 and a GPU for a replica, whose demand of each of the last 15 days' hours is known until a time.
func hourly(name string, until time.Time, demand func(time.Time) float64) fleet.Member {
	m := fleet.Member{Name: name, GPUs: 1, Target: 1, MaxReplicas: 100, Present: 3}
	m.Hours = forecast.Series{Start: until.Add(-15 * 24 * time.Hour), Step: time.Hour}
	for at := m.Hours.Start; at.Before(until); at = at.Add(time.Hour) {
		m.Hours.Values = append(m.Hours.Values, demand(at))
	}
	return m
}

// growing is an office's demand: 4 at night and on weekends, 22 from 8 to 18 on Mondays and 20 on other weekdays, and 3 % more every week.
func growing(at time.Time) float64 {
	high := 20.0
	switch day := at.Weekday(); {
	case day == time.Saturday || day == time.Sunday || at.Hour() < 8 || at.Hour() >= 18:
		high = 4
	case day == time.Monday:
		high = 22
	}
	return high * math.Pow(1.03, float64(at.Unix())/(7*86400)-float64(now().Unix())/(7*86400))
}

// On Sunday at 12:00, the peak of Monday is foreseen, although it will be higher than any hour before, and Sunday is calm.
func TestGrowthCrossesTheCapacityOnMonday(t *testing.T) {
	sunday := now().Add(-19 * time.Hour)
	highest := 0.0
	for at := sunday.Add(-15 * 24 * time.Hour); at.Before(sunday); at = at.Add(time.Hour) {
		highest = max(highest, 2*growing(at))
	}
	members := []fleet.Member{hourly("chat", sunday, growing), hourly("code", sunday, growing)}
	f := fleet.Fleet{GPUs: 43, Members: members}
	if highest > f.GPUs {
		t.Fatalf("the demand was %v already", highest)
	}
	day := f.Day(sunday.Add(20 * time.Minute))
	s := day.Shortage()
	if s == nil {
		t.Fatalf("no shortage: %v", day.Total)
	}
	if want := now().Add(time.Hour); !s.From.Equal(want) || !s.Until.Equal(day.Hours[23].Add(time.Hour)) {
		t.Errorf("from %s until %s, want from %s until the end of the day ahead", s.From, s.Until, want)
	}
	if s.Need != 44 || len(s.Members) != 2 || s.Members[0].Name != "chat" {
		t.Errorf("%+v, want 44 GPUs of two members", s)
	}
	f.GPUs = 44
	if day := f.Day(sunday); day.Shortage() != nil {
		t.Errorf("%+v, want no shortage with 44 GPUs", day.Shortage())
	}
	f.Other = 2
	if day := f.Day(sunday); day.Shortage() == nil || day.GPUs != 42 {
		t.Errorf("%+v, want a shortage if other pods hold 2 of the 44 GPUs", day)
	}
}

// Half of the last day's difference to the weeks before is expected to last.
func TestANewLevelIsFollowed(t *testing.T) {
	step := hourly("chat", now(), func(at time.Time) float64 {
		if at.Before(now().Add(-24 * time.Hour)) {
			return 10
		}
		return 15
	})
	f := fleet.Fleet{GPUs: 12, Members: []fleet.Member{step}}
	if day := f.Day(now()); math.Abs(day.Total[0]-12.5) > 1e-9 || day.Shortage() == nil {
		t.Errorf("%v, want 12.5 in each hour: 10 × (1 + 0.5 / 2)", day.Total)
	}
	for i := range step.Hours.Values[len(step.Hours.Values)-24:] {
		step.Hours.Values[len(step.Hours.Values)-1-i] = 1e6
	}
	if day := f.Day(now()); math.Abs(day.Total[0]-15) > 1e-9 {
		t.Errorf("%v, want 15 in each hour: no more than 10 × (1 + (2 - 1) / 2)", day.Total)
	}
}

// A flat demand a little below the capacity is no shortage, with gaps or without, and whenever its history was computed.
func TestNoAlarmForAFlatDemand(t *testing.T) {
	flat := func(time.Time) float64 { return 19.9 }
	for name, change := range map[string]func(*fleet.Member){
		"complete": func(*fleet.Member) {},
		"six hours old": func(m *fleet.Member) {
			m.Hours.Values = m.Hours.Values[:len(m.Hours.Values)-6]
		},
		"a day of gaps": func(m *fleet.Member) { gap(m, 7*24, 8*24) },
		"gaps in both weeks, and no forecast": func(m *fleet.Member) {
			gap(m, 24, 48)
			gap(m, 8*24, 9*24)
		},
		"a week": func(m *fleet.Member) { *m = newer(*m, 8*24) },
	} {
		m := hourly("chat", now(), flat)
		m.Present = 19
		change(&m)
		f := fleet.Fleet{GPUs: 20, Members: []fleet.Member{m}}
		day := f.Day(now())
		if day.Shortage() != nil || slices.Min(day.Total) < 19 || len(day.Hours) != 24 {
			t.Errorf("%s: %v, want 19.9 in each hour", name, day.Total)
		}
	}
}

// gap removes hours of a member's history.
func gap(m *fleet.Member, from, to int) {
	for i := from; i < to; i++ {
		m.Hours.Values[i] = math.NaN()
	}
}

// newer keeps the newest hours.
func newer(m fleet.Member, hours int) fleet.Member {
	n := m.Hours.Len()
	m.Hours = m.Hours.Slice(n-hours, n)
	return m
}

// Without a week of history, the member's own forecast counts; its day repeats beyond its end. Without a forecast, what it holds now counts.
func TestMembersWithoutAWeek(t *testing.T) {
	m := newer(hourly("chat", now(), growing), 3*24)
	m.NextDay = forecast.Series{Start: now().Add(-2 * time.Hour), Step: time.Hour}
	for i := range 24 {
		m.NextDay.Values = append(m.NextDay.Values, float64(i))
	}
	unknown := fleet.Member{Name: "new", GPUs: 2, Present: 4}
	f := fleet.Fleet{GPUs: 30, Members: []fleet.Member{m, unknown}}
	day := f.Day(now())
	if got := day.Members[0]; got.GPUs[0] != 2 || got.GPUs[21] != 23 || got.GPUs[22] != 0 || got.Unknown {
		t.Errorf("%+v, want the forecast: from 2 to 23, and 0 again", got)
	}
	if got := day.Members[1]; got.GPUs[0] != 8 || !got.Unknown {
		t.Errorf("%+v, want the 8 GPUs that it holds", got)
	}
	s := day.Shortage()
	if s == nil || s.Need != 31 || !s.From.Equal(now().Add(21*time.Hour)) {
		t.Errorf("%+v, want 31 GPUs from %s", s, now().Add(21*time.Hour))
	}
}

// An announced event is in the member's own forecast, or asks for replicas. It may also lower the demand.
func TestEventsOfTheDay(t *testing.T) {
	m := hourly("chat", now(), func(time.Time) float64 { return 10 })
	m.NextDay = forecast.Series{Start: now(), Step: time.Hour, Values: slices.Repeat([]float64{40}, 24)}
	begin := now().Add(5*time.Hour + 10*time.Minute)
	for name, c := range map[string]struct {
		know     event.Knowledge
		forecast float64
		want     float64
	}{
		"times":    {event.Knowledge{Times: 4}, 40, 40},
		"replicas": {event.Knowledge{Replicas: 30}, 10, 30},
		"outage":   {event.Knowledge{Times: 0.1}, 1, 1},
	} {
		m.NextDay.Values = slices.Repeat([]float64{c.forecast}, 24)
		m.Events = []event.Occurrence{{Start: begin, End: begin.Add(time.Hour), Knowledge: c.know}}
		day := (&fleet.Fleet{GPUs: 20, Members: []fleet.Member{m}}).Day(now())
		for i, want := range map[int]float64{4: 10, 5: c.want, 6: c.want, 7: 10} {
			if day.Total[i] != want {
				t.Errorf("%s: %v in hour %d, want %v", name, day.Total[i], i, want)
			}
		}
	}
}

// What is computed in the background has means at the time of their end, and the forecast at the time of its beginning.
func TestTheHoursOfAnOutlook(t *testing.T) {
	e := &snapshot.ForecastSnapshot{Views: &snapshot.ViewTracker{}}
	e.Views.Set(&snapshot.Background{
		Hours: forecast.Series{Start: now(), Step: time.Hour, Values: []float64{1, 2}},
		NextDay: []snapshot.PathStep{
			{Time: now().Add(time.Hour), Point: 3}, {Time: now().Add(2 * time.Hour), Point: 4},
		},
	})
	o := fleet.OutlookOf(e, now())
	if !o.Hours.Start.Equal(now().Add(-time.Hour)) || !slices.Equal(o.Hours.Values, []float64{1, 2}) {
		t.Errorf("hours %v, want the first to begin an hour before its end", o.Hours)
	}
	next := o.NextDay
	if !next.Start.Equal(o.Hours.End()) || next.Step != time.Hour || !slices.Equal(next.Values, []float64{3, 4}) {
		t.Errorf("next day %v, want it to continue the hours", o.NextDay)
	}
	if !e.Views.LookedSince(now()) {
		t.Error("the results are not computed as often as for a viewer")
	}
}

// A member needs no more than its autoscalers may ask for, and no less than their minimum.
func TestTheDayKeepsLimits(t *testing.T) {
	m := hourly("chat", now(), func(at time.Time) float64 { return float64(at.Hour()) })
	m.MinReplicas, m.MaxReplicas = 5, 12
	day := (&fleet.Fleet{GPUs: 12, Members: []fleet.Member{m}}).Day(now())
	if slices.Min(day.Total) != 5 || slices.Max(day.Total) != 12 || day.Shortage() != nil {
		t.Errorf("%v, want from 5 to 12", day.Total)
	}
}

func TestMessageOfAShortage(t *testing.T) {
	s := fleet.Shortage{From: now().Add(2 * time.Hour), Until: now().Add(4 * time.Hour), Need: 72, GPUs: 64}
	all := []fleet.Contribution{{"chat", 40.04}, {"code", 22}, {"a", 4}, {"b", 3}, {"c", 3}}
	const text = "On Mon, 30 Nov from 09:00 to 11:00 UTC the members need up to 72 GPUs, 8 more than the fleet has for them: "
	for n, want := range map[int]string{
		5: "chat (40), code (22) and 3 others.", 3: "chat (40), code (22) and a (4).", 1: "chat (40).",
	} {
		s.Members = all[:n]
		if got := s.Message(); got != text+want {
			t.Errorf("%s\nwant %s", got, text+want)
		}
	}
	s.Until, s.Members = s.From.Add(24*time.Hour), all[:1]
	const want = "From Mon, 30 Nov 09:00 to Tue, 1 Dec 09:00 UTC the members need up to 72 GPUs, 8 more than the fleet has " +
		"for them: chat (40)."
	if got := s.Message(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The day ahead is finite and complete for any input, and a shortage lies within it.
func FuzzDay(f *testing.F) {
	f.Add(64.0, 1.0, 1.0, 5.0, 1, 10, 3, int64(time.Hour), uint16(360), int64(0), int64(1_800_000_000))
	f.Add(math.NaN(), math.Inf(1), 1e-300, 1e300, -5, 0, 1<<40, int64(-1), uint16(3), int64(math.MaxInt64), int64(-1))
	const first, last = int64(math.MinInt64), int64(math.MaxInt64)
	f.Add(0.0, 1e300, 1e-300, 1e308, 1<<40, 1<<41, 0, last, uint16(3), first, last)
	f.Fuzz(func(t *testing.T, gpus, size, target, demand float64, least, most, present int, step int64, length uint16,
		shift, at int64,
	) {
		m := hourly("chat", now(), growing)
		m.GPUs, m.Target, m.MinReplicas, m.MaxReplicas, m.Present = size, target, least, most, present
		m.Hours.Step, m.Hours.Start = time.Duration(step), m.Hours.Start.Add(time.Duration(shift))
		m.Hours.Values = append(m.Hours.Values[:min(int(length), len(m.Hours.Values))], demand, math.NaN(), demand)
		m.NextDay = m.Hours
		fl := fleet.Fleet{GPUs: gpus, Members: []fleet.Member{m, hourly("code", now(), growing)}}
		for _, when := range []time.Time{now(), time.Unix(at, 0), {}} {
			day := fl.Day(when)
			if len(day.Hours) != 24 || len(day.Total) != 24 || !(day.GPUs >= 0) || math.IsInf(day.GPUs, 0) {
				t.Fatalf("%+v", day)
			}
			for _, v := range day.Total {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Fatalf("%v GPUs", v)
				}
			}
			s := day.Shortage()
			if s != nil && (!(s.Need > s.GPUs) || !s.Until.After(s.From) || len(s.Members) == 0 || s.Message() == "") {
				t.Fatalf("%+v", s)
			}
		}
	})
}

func BenchmarkDay(b *testing.B) {
	f := fleet.Fleet{GPUs: 1000}
	for range 50 {
		f.Members = append(f.Members, hourly("chat", now(), growing))
	}
	for b.Loop() {
		f.Day(now())
	}
}

// A pod of others that comes and goes does not make a shortage come and go.
func TestOtherPodsThatComeAndGo(t *testing.T) {
	ten := hourly("chat", now(), func(time.Time) float64 { return 10 })
	p, f := fleet.Planner{}, fleet.Fleet{GPUs: 10, Members: []fleet.Member{ten}}
	for i := range 40 {
		f.Other = float64(i % 2)
		if day := p.Day(now().Add(time.Duration(i)*15*time.Second), &f); day.Shortage() != nil {
			t.Fatalf("step %d: %+v", i, day.Shortage())
		}
	}
	f.Other = 1 // A pod that stays does.
	if day := p.Day(now().Add(30*time.Minute), &f); day.Shortage() == nil {
		t.Errorf("no shortage with %v GPUs for the members", day.GPUs)
	}
}
