package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/event"
)

func of(t *testing.T, specs ...calendar.Event) event.Calendar {
	t.Helper()
	for i := range specs {
		specs[i].Times = 2
		if err := specs[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	return calendar.Of(specs)
}

func TestOccurrences(t *testing.T) {
	from := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		spec calendar.Event
		want []string // from the 20th of November 2026 on, for two weeks
	}{
		"once":              {calendar.Event{Start: "2026-11-27T09:30", Duration: time.Hour}, []string{"27T09:30 1h0m0s"}},
		"once, before":      {calendar.Event{Start: "2026-11-19T09:30", Duration: time.Hour}, nil},
		"it has begun":      {calendar.Event{Start: "2026-11-19T23:30", Duration: time.Hour}, []string{"19T23:30 1h0m0s"}},
		"a day in New York": {calendar.Event{Start: "2026-11-26", TimeZone: "America/New_York", Duration: 24 * time.Hour}, []string{"26T05:00 24h0m0s"}},
		"on Mondays": {
			calendar.Event{Start: "2024-01-01T08:00", TimeZone: "Europe/Berlin", Duration: 2 * time.Hour, Recurrence: "FREQ=WEEKLY;BYDAY=MO"},
			[]string{"23T07:00 2h0m0s", "30T07:00 2h0m0s"},
		},
		"the last Friday": {
			calendar.Event{Start: "2024-01-01T00:00", Duration: 24 * time.Hour, Recurrence: "FREQ=MONTHLY;BYDAY=-1FR"}, []string{"27T00:00 24h0m0s"},
		},
		"until": {calendar.Event{Start: "2026-11-01T08:00", Duration: time.Hour, Recurrence: "FREQ=DAILY;UNTIL=20261121T235959Z"}, []string{"20T08:00 1h0m0s", "21T08:00 1h0m0s"}},
		"also and except": {
			calendar.Event{
				Start: "2026-11-20T08:00", Duration: time.Hour, Recurrence: "FREQ=DAILY;COUNT=4",
				AlsoOn: []string{"2026-12-01", "2026-11-20T06:00", "2026-11-20T08:00"}, ExceptOn: []string{"2026-11-21", "2026-11-22T08:00", "2026-11-23T09:00"},
			}, []string{"20T06:00 1h0m0s", "20T08:00 1h0m0s", "23T08:00 1h0m0s", "01T00:00 1h0m0s"},
		},
		"a holiday": {calendar.Event{Holidays: "US", Duration: 24 * time.Hour, TimeZone: "America/New_York"}, []string{"26T05:00 24h0m0s"}},
		"of a region, but one": {
			calendar.Event{Holidays: "DE-BY", Duration: time.Hour, AlsoOn: []string{"2026-11-24"}}, []string{"24T00:00 1h0m0s"},
		},
		"until the next": {
			calendar.Event{Start: "2026-11-20", Duration: 60 * 24 * time.Hour, Recurrence: "FREQ=WEEKLY"}, []string{"20T00:00 168h0m0s", "27T00:00 168h0m0s"},
		},
		"it is over": {calendar.Event{Start: "2026-11-01T08:00", Duration: time.Hour, Recurrence: "FREQ=DAILY;COUNT=3"}, nil},
	} {
		var got []string
		for _, o := range of(t, tt.spec)(from, from.AddDate(0, 0, 14)) {
			got = append(got, o.Start.Format("02T15:04 ")+o.End.Sub(o.Start).String())
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// On every day of forty years a daily event is at its time by the clocks of its zone. Where clocks show that time twice it is at the
// first; where they skip it, it is so much later.
func TestClocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	for _, name := range []string{
		"Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Santiago", "America/St_Johns", "Australia/Sydney",
		"Australia/Lord_Howe", "Pacific/Chatham", "Africa/Casablanca", "Asia/Tehran", "Asia/Kathmandu", "Antarctica/Troll", "UTC",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, clock := range []string{"00:00", "00:30", "01:59", "02:00", "02:15", "02:30", "03:00", fmt.Sprintf("%02d:%02d", rng.IntN(24), rng.IntN(60))} {
			daily := of(t, calendar.Event{
				Start:      "2000-01-01T" + clock,
				TimeZone:   name,
				Duration:   time.Hour,
				Recurrence: "FREQ=DAILY;UNTIL=20391231T000000Z",
			})
			all := daily(time.Time{}.AddDate(1999, 0, 0), time.Time{}.AddDate(2040, 0, 0))
			if len(all) < 40*365 {
				t.Fatalf("%s, %s: %d days", name, clock, len(all))
			}
			for _, o := range all {
				local := o.Start.In(zone)
				shown := local.Format("15:04") == clock
				if !shown && (isShown(zone, local, clock) || !o.Start.Equal(skipped(local, clock))) {
					t.Fatalf("%s: %s is %s", name, clock, local)
				}
				for _, d := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
					if earlier := local.Add(-d); shown && earlier.Format("15:04") == clock {
						t.Fatalf("%s: %s is %s, want %s", name, clock, local, earlier)
					}
				}
			}
		}
	}
}

// isShown reports whether clocks show a time on a day.
func isShown(zone *time.Location, day time.Time, clock string) bool {
	for at := day.Add(-4 * time.Hour); at.Before(day.Add(4 * time.Hour)); at = at.Add(time.Minute) {
		if local := at.In(zone); local.Format("15:04") == clock && local.Day() == day.Day() {
			return true
		}
	}
	return false
}

// skipped is a time that clocks do not show on a day, by the offset before they are changed.
func skipped(day time.Time, clock string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", day.Format("2006-01-02 ")+clock)
	if err != nil {
		panic(err)
	}
	_, offset := day.Add(-3 * time.Hour).Zone()
	return at.Add(-time.Duration(offset) * time.Second)
}

func TestBadEvents(t *testing.T) {
	good := calendar.Event{
		Name:      "launch",
		Start:     "2026-11-27T09:30",
		Duration:  time.Hour,
		Knowledge: event.Knowledge{Times: 2},
	}
	for want, spoil := range map[string]func(*calendar.Event){
		"duration 0s":                   func(s *calendar.Event) { s.Duration = 0 },
		"at most 60d":                   func(s *calendar.Event) { s.Duration = 10 * 365 * 24 * time.Hour },
		"write one of":                  func(s *calendar.Event) { s.AtLeast = 5 },
		"write one of atLeast, rep":     func(s *calendar.Event) { s.Replicas = 5 },
		"replicas -1":                   func(s *calendar.Event) { s.Times, s.Replicas = 0, -1 },
		"replicas 10001: write a whole": func(s *calendar.Event) { s.Times, s.Replicas = 0, 10_001 },
		"write one of ":                 func(s *calendar.Event) { s.Times = 0 },
		"times -1":                      func(s *calendar.Event) { s.Times = -1 },
		"times 1e+09":                   func(s *calendar.Event) { s.Times = 1e9 },
		"timeZone \"Mars\"":             func(s *calendar.Event) { s.TimeZone = "Mars" },
		"timeZone \"Local\"":            func(s *calendar.Event) { s.TimeZone = "Local" },
		"timeZone \"../../etc/passwd\"": func(s *calendar.Event) { s.TimeZone = "../../etc/passwd" },
		"write a date":                  func(s *calendar.Event) { s.Start = "tomorrow" },
		"a year from 1970":              func(s *calendar.Event) { s.Start = "0001-01-01" },
		"FREQ=WEEKLY":                   func(s *calendar.Event) { s.Recurrence = "weekly" },
		"at most once an hour":          func(s *calendar.Event) { s.Recurrence = "FREQ=SECONDLY" },
		"at most once an hour: use":     func(s *calendar.Event) { s.Recurrence = "FREQ=DAILY;BYMINUTE=1,2,3,4" },
		"the rule has no occurrence":    func(s *calendar.Event) { s.Recurrence = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30" },
		"1000 times a year":             func(s *calendar.Event) { s.Recurrence, s.Start = "FREQ=HOURLY", "1970-01-01" },
		"start or holidays":             func(s *calendar.Event) { s.Holidays = "US" },
		"AU-ACT, AU-NSW":                func(s *calendar.Event) { s.Holidays, s.Start = "AU", "" },
		"exceptOn \"never\"":            func(s *calendar.Event) { s.ExceptOn = []string{"never"} },
		"remove DTSTART":                func(s *calendar.Event) { s.Recurrence = "DTSTART=20260101T000000Z;FREQ=DAILY" },
		"recurrence":                    func(s *calendar.Event) { s.Recurrence = "FREQ=DAILY;INTERVAL=-3" },
	} {
		s := good
		spoil(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

func TestOverlap(t *testing.T) {
	day := calendar.Event{Name: "day", Start: "2026-11-27", Duration: 24 * time.Hour}
	hour := calendar.Event{Name: "hour", Start: "2026-11-27T09:00", Duration: time.Hour}
	after := calendar.Event{Name: "after", Start: "2026-11-28", Duration: time.Hour}
	from := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for want, all := range map[string]event.Calendar{
		"day hour true": of(t, day, after, hour),
		"  false":       of(t, day, after),
	} {
		a, b, ok := event.Overlap(all(from, from.AddDate(0, 0, 14)))
		if got := fmt.Sprint(a.Name, " ", b.Name, " ", ok); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// FuzzRecurrence: whatever is written, an event is refused or has at most one occurrence an hour, in order, and soon.
func FuzzRecurrence(f *testing.F) {
	for _, text := range []string{
		"FREQ=WEEKLY;BYDAY=MO", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYEASTER=1", "FREQ=DAILY;COUNT=999999999",
		"FREQ=DAILY;INTERVAL=999999999", "FREQ=HOURLY;BYSETPOS=-1;BYMINUTE=59;BYSECOND=60", "FREQ=MONTHLY;BYDAY=-9FR",
	} {
		f.Add(text, "2026-03-29T02:30", "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, rule, start, zone string) {
		s := calendar.Event{
			Name:       "x",
			Start:      start,
			TimeZone:   zone,
			Duration:   time.Hour,
			Recurrence: rule,
			Knowledge:  event.Knowledge{Times: 2},
		}
		begin := time.Now()
		if err := s.Check(); err != nil {
			return
		}
		from := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		all := calendar.Of([]calendar.Event{s})(from, from.AddDate(0, 0, 30))
		if len(all) > 31*25 || time.Since(begin) > 5*time.Second {
			t.Fatalf("%d occurrences in %s", len(all), time.Since(begin))
		}
		for i := range all {
			if i > 0 && all[i].Start.Before(all[i-1].Start) || !all[i].End.After(from) {
				t.Fatalf("%v after %v", all[i], all[i-1])
			}
		}
	})
}
