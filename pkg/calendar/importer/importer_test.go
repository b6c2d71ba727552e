package importer_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/calendar/importer"
	"github.com/forewarm/forewarm/pkg/core/event"
)

// icsOf is a calendar of entries, whose lines are separated by "|".
func icsOf(entries ...string) []byte {
	var out strings.Builder
	out.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
	for _, e := range entries {
		out.WriteString("BEGIN:VEVENT\r\n" + strings.ReplaceAll(e, "|", "\r\n") + "\r\nEND:VEVENT\r\n")
	}
	out.WriteString("END:VCALENDAR\r\n")
	return []byte(out.String())
}

func TestICS(t *testing.T) {
	const berlin = ";TZID=Europe/Berlin:"
	for name, tt := range map[string]struct {
		entries []string
		want    string // The occurrences of November and December 2026.
		left    string
	}{
		"in a zone, by days, of no zone": {[]string{
			"SUMMARY:a|DTSTART" + berlin + "20261201T090000|DTEND" + berlin + "20261201T110000",
			"SUMMARY:b|DTSTART;VALUE=DATE:20261225|DTEND;VALUE=DATE:20261227",
			"SUMMARY:c|DTSTART:20261202T090000|DURATION:P1DT2H",
		}, "a 12-01 08:00 2h0m0s, c 12-02 08:00 26h0m0s, b 12-24 23:00 48h0m0s", ""},
		"another zone at its end": {
			[]string{"SUMMARY:a|DTSTART" + berlin + "20261201T090000|DTEND:20261201T110000Z"}, "a 12-01 08:00 3h0m0s", "",
		},
		"one name": {[]string{
			"SUMMARY:a|DTSTART:20261201T090000Z|DURATION:PT1H", "SUMMARY:a|DTSTART:20261203T090000Z|DURATION:PT1H",
			"SUMMARY:a|DTSTART:20261202T090000Z|DURATION:PT1H",
		}, "a 12-01 09:00 1h0m0s, a 12-02 09:00 1h0m0s, a 12-03 09:00 1h0m0s", ""},
		"a rule, with and without": {[]string{
			"UID:1|SUMMARY:a|DTSTART" + berlin + "20261207T090000|DURATION:PT1H|RRULE:FREQ=WEEKLY;UNTIL=20261231T000000Z|" +
				"EXDATE:20261214T080000Z|RDATE" + berlin + "20261215T090000",
			"UID:1|RECURRENCE-ID" + berlin + "20261221T090000|STATUS:CANCELLED|DTSTART" + berlin + "20261221T090000|DURATION:PT1H",
			"UID:1|SUMMARY:moved|RECURRENCE-ID" + berlin + "20261228T090000|DTSTART" + berlin + "20261228T150000|DURATION:PT1H",
		}, "a 12-07 08:00 1h0m0s, a 12-15 08:00 1h0m0s, moved 12-28 14:00 1h0m0s", ""},
		"what cannot be":   {[]string{"SUMMARY:a|DTSTART:20261201T090000Z", "SUMMARY:b|DURATION:PT1H"}, "", "no end} {b \"b\" is left out: its DTSTART is missing"},
		"what is no time":  {[]string{"SUMMARY:a|DTSTART:tomorrow|DURATION:PT1H"}, "", "is not a time such as 20261224T180000"},
		"a wrong duration": {[]string{"SUMMARY:a|DTSTART:20261201T090000Z|DURATION:-PT1H"}, "", `its DURATION "-PT1H" is not a duration`},
		"an EXRULE":        {[]string{"SUMMARY:a|DTSTART:20261201T090000Z|DURATION:PT1H|RRULE:FREQ=DAILY|EXRULE:FREQ=WEEKLY"}, "", "write the times at which it does not take place as EXDATE"},
		"all later occurrences": {[]string{
			"UID:1|SUMMARY:a|DTSTART:20261207T090000Z|DURATION:PT1H|RRULE:FREQ=WEEKLY;COUNT=2",
			"UID:1|SUMMARY:a|RECURRENCE-ID;RANGE=THISANDFUTURE:20261214T090000Z|DTSTART:20261214T150000Z|DURATION:PT1H",
		}, "a 12-07 09:00 1h0m0s, a 12-14 09:00 1h0m0s", "changes all occurrences from 2026-12-14T09:00:00 on"},
		"a replacement in another zone": {[]string{
			"UID:1|SUMMARY:a|DTSTART" + berlin + "20261207T090000|DURATION:PT1H|RRULE:FREQ=WEEKLY;COUNT=2",
			"UID:1|SUMMARY:a|RECURRENCE-ID" + berlin + "20261214T090000|DTSTART:20261214T150000Z|DURATION:PT1H",
		}, "a 12-07 08:00 1h0m0s, a 12-14 15:00 1h0m0s", ""},
		"two rules": {[]string{"SUMMARY:a|DTSTART:20261201T090000Z|DURATION:PT1H|RRULE:FREQ=DAILY|RRULE:FREQ=DAILY"}, "", "several RRULEs"},
	} {
		found, err := importer.ICS(icsOf(tt.entries...), "Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		if got := occurrences(
			t,
			found,
		); got != tt.want ||
			!strings.Contains(fmt.Sprint(found.LeftOut), tt.left) ||
			(tt.left == "") != (len(found.LeftOut) == 0) {
			t.Errorf("%s: %s, left out %v, want %s and %s", name, got, found.LeftOut, tt.want, tt.left)
		}
	}
}

// The zone of the calendar is that of times without a zone, and of days, unless another one is given.
func TestZoneOfTheCalendar(t *testing.T) {
	const of = "BEGIN:VCALENDAR\r\nX-WR-TIMEZONE:America/New_York\r\n"
	data := strings.Replace(string(icsOf(
		"SUMMARY:a|DTSTART:20261201T090000|DTEND:20261201T110000",
		"SUMMARY:b|DTSTART;VALUE=DATE:20261225",
		"SUMMARY:c|DTSTART:20261226T090000Z|DURATION:PT1H",
	)), "BEGIN:VCALENDAR\r\n", of, 1)
	for zone, want := range map[string]string{
		"":              "a 12-01 14:00 2h0m0s, b 12-25 05:00 24h0m0s, c 12-26 09:00 1h0m0s",
		"Europe/Berlin": "a 12-01 08:00 2h0m0s, b 12-24 23:00 24h0m0s, c 12-26 09:00 1h0m0s",
	} {
		found, err := importer.ICS([]byte(data), zone)
		if got := occurrences(t, found); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", zone, got, err, want)
		}
	}
	cancels := strings.Replace(data, "X-WR-TIMEZONE:America/New_York", "METHOD:CANCEL", 1)
	if _, err := importer.ICS([]byte(cancels), ""); err == nil || !strings.Contains(err.Error(), "METHOD:CANCEL") {
		t.Error(err)
	}
}

// An entry over a clock change lasts as long as the time that elapses. Whole days end at the time of the day at which they begin.
func TestDurationOverAClockChange(t *testing.T) {
	const berlin = ";TZID=Europe/Berlin:"
	found, err := importer.ICS(icsOf("DTSTART"+berlin+"20270327T220000|DTEND"+berlin+"20270328T060000",
		"DTSTART"+berlin+"20270327T220000|DTEND"+berlin+"20270328T220000"), "")
	if err != nil || len(found.Events) != 2 || found.Events[0].Duration != 7*time.Hour ||
		found.Events[1].Duration != 24*time.Hour {
		t.Errorf("%+v, %v", found, err)
	}
}

func occurrences(t *testing.T, found importer.Result) string {
	t.Helper()
	for i := range found.Events {
		found.Events[i].Knowledge = event.Knowledge{Times: 2}
		if err := found.Events[i].Check(); err != nil {
			t.Error(err)
		}
	}
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var out []string
	if of := calendar.Of(found.Events); of != nil {
		for _, o := range of(from, from.AddDate(0, 2, 0)) {
			out = append(out, fmt.Sprint(o.Name, o.Start.Format(" 01-02 15:04 "), o.End.Sub(o.Start)))
		}
	}
	return strings.Join(out, ", ")
}

func TestCrontab(t *testing.T) {
	from := time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)
	for line, want := range map[string]string{
		"# nothing\n\nPATH=/bin\n":                    "",
		"30 7 24 12 * /usr/bin/report --all":          "report 12-24 07:30 20m0s",
		"CRON_TZ=Europe/Berlin\n@yearly x\n@weekly y": "y 12-19 23:00 20m0s, y 12-26 23:00 20m0s, x 12-31 23:00 20m0s",
		"0 9 * DEC FRI cron":                          "cron 12-25 09:00 20m0s",
		"0 9 * 12 7 x":                                "x 12-20 09:00 20m0s, x 12-27 09:00 20m0s",
		"0 9 * 12 6-7 x":                              "x 12-20 09:00 20m0s, x 12-26 09:00 20m0s, x 12-27 09:00 20m0s",
		"0 9 * 12 5-7/2 x":                            "x 12-20 09:00 20m0s, x 12-25 09:00 20m0s, x 12-27 09:00 20m0s",
		"0 9 * 12 7-1,4 x":                            "x 12-20 09:00 20m0s, x 12-21 09:00 20m0s, x 12-24 09:00 20m0s, x 12-27 09:00 20m0s, x 12-28 09:00 20m0s, x 12-31 09:00 20m0s",
		"TZ=Asia/Tokyo\nCRON_TZ = UTC\n0 9 25 12 * x": "x 12-25 09:00 20m0s",
		"0 9 */2 12 5 both":                           "both 12-25 09:00 20m0s",
		"0 9 20-26 12 */5 both":                       "both 12-20 09:00 20m0s, both 12-25 09:00 20m0s",
		"0 9 25 12 * root test -x /bin/a":             "test 12-25 09:00 20m0s",
		"0 9 25 12 * www-data\t/opt/report.sh":        "report.sh 12-25 09:00 20m0s",
		"0 9 25 12 * cd /opt && ./x":                  "cd 12-25 09:00 20m0s",
		"0 9 26 12 FRI both":                          "both 12-25 09:00 20m0s, both 12-26 09:00 20m0s",
		"0 9,21 28-31/3 * * x":                        "x 12-28 09:00 20m0s, x 12-28 21:00 20m0s, x 12-31 09:00 20m0s, x 12-31 21:00 20m0s",
	} {
		found := importer.Crontab([]byte(line), from, "", 20*time.Minute)
		if got := occurrences(t, found); got != want || len(found.LeftOut) > 0 {
			t.Errorf("%q: %s, left out %v, want %s", line, got, found.LeftOut, want)
		}
	}
	for line, want := range map[string]string{
		"61 9 * * * x": "end of range (61) above maximum (59): 61: write five fields such as 0 9 * * 1-5",
		"0 9 * x":      "expected exactly 5 fields", "@every 1h x": "@every has no time of day: write five fields",
		"@reboot x": "@reboot has no time of day", "0 0 9 * * ? x": "six fields: remove the seconds", "0 9 * * 9-7 x": "write five fields",
	} {
		if found := importer.Crontab(
			[]byte(line),
			from,
			"",
			time.Hour,
		); len(found.Events) > 0 ||
			!strings.Contains(fmt.Sprint(found.LeftOut), want) {
			t.Errorf("%q: %v, want %q", line, found, want)
		}
	}
}

// Events become objects with names of their own. What does not match, was over before or is invalid becomes none.
func TestReadDemandEvents(t *testing.T) {
	c := importer.Config{
		Namespace: "team",
		Known:     []importer.Known{{Spec: v1alpha1.EventSpec{Times: "3"}}},
		Match:     regexp.MustCompile("^[^o]"),
		Since:     time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		Duration:  time.Hour,
	}
	read := func(data []byte) string {
		found, err := importer.ReadDemandEvents(data, c)
		if err != nil {
			return err.Error()
		}
		var out strings.Builder
		for _, o := range found.Objects {
			fmt.Fprintf(&out, "%s/%s x%s, ", o.Namespace, o.Name, o.Spec.Times)
		}
		fmt.Fprintf(&out, "%d over, %v", found.Over, found.LeftOut)
		return out.String()
	}
	const at = "|DTSTART:20261225T100000Z|DURATION:PT1H"
	for got, want := range map[string]string{
		read(icsOf("SUMMARY:a b"+at, "SUMMARY:A/b"+at, "SUMMARY:日"+at, "SUMMARY:other"+at,
			"SUMMARY:past|DTSTART:20201225T100000Z|DURATION:PT1H")): "team/a-b x3, team/a-b-2 x3, team/event x3, 1 over, []",
		read([]byte("CRON_TZ=nowhere\n0 9 * * * report")): "0 over, [\"report\" is left out: spec: ",
		read([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\n")):   "not a calendar (RFC 5545): ",
		// What the match does not select is not left out either.
		read(icsOf("SUMMARY:other|DTSTART:20261225T100000Z")): "0 over, []",
		read([]byte("61 9 * * * other")):                      "0 over, []",
	} {
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// FuzzImport: whatever is read, nothing panics, and what is found is refused by the check or has a calendar.
func FuzzImport(f *testing.F) {
	f.Add(
		string(
			icsOf(
				"SUMMARY:a|DTSTART;TZID=Europe/Berlin:20261201T090000|DTEND:20261201T110000Z|RRULE:FREQ=DAILY|EXDATE:20261201",
			),
		),
	)
	f.Add("CRON_TZ=UTC\n0 9 1-5/2 * MON,FRI x\n")
	f.Fuzz(func(t *testing.T, text string) {
		begin := time.Now()
		from := time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)
		found := importer.Crontab([]byte(text), from, "UTC", time.Hour)
		if entries, err := importer.ICS([]byte(text), "UTC"); err == nil {
			found.Events = append(found.Events, entries.Events...)
		}
		for i := range found.Events {
			e := found.Events[i]
			if e.Times = 2; e.Check() == nil {
				calendar.Of([]calendar.Event{e})(from, from.AddDate(0, 1, 0))
			}
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Fatalf("%s", took)
		}
	})
}

// Two schedules are an event if all their windows are alike.
func TestTimetable(t *testing.T) {
	for _, c := range []struct {
		start string
		ends  []string
		want  string
	}{
		{"0 8 * * 1-5", []string{"0 18 * * 1-5"}, "FREQ=DAILY;BYHOUR=8;BYMINUTE=0;BYDAY=MO,TU,WE,TH,FR 10h0m0s"},
		{"0  22 * * *", []string{"30 5 * * *"}, "FREQ=DAILY;BYHOUR=22;BYMINUTE=0 7h30m0s"},
		{"0 8 1 * *", []string{"0 20 1 * *", "0 12 1 * *"}, "FREQ=DAILY;BYHOUR=8;BYMINUTE=0;BYMONTHDAY=1 4h0m0s"},
		{"0 8,10,12 * * *", []string{"0 18 * * *"}, "FREQ=DAILY;BYHOUR=8,10,12;BYMINUTE=0 6h0m0s"},
		{"0 8 * * *", []string{"0 18 * * 1-5"}, "not all its windows have the same length"},
		{"0 8 * * *", []string{"0 12 * * 1-5", "0 18 * * 0,6"}, "not all its windows have the same length"},
		{"0 8 * * *", nil, "it never ends: set minReplicas"},
		{"0 8 1 1 *", []string{"0 8 1 7 *"}, "it lasts more than 1440h"},
		{"* * * * *", []string{"0 18 * * *"}, "more than once an hour"},
		{"0 8 1 * 1", []string{"0 18 * * *"}, "is not a recurrence"},
		{"0 8 */2 * 5", []string{"0 18 * * *"}, "is not a recurrence"},
		{"CRON_TZ=UTC 0 8 * * *", []string{"0 18 * * *"}, "has a time zone of its own"},
		{"0 8 * * *", []string{"CRON_TZ=Asia/Tokyo 0 18 * * *"}, "has a time zone of its own"},
		{"0 8 * * *", []string{"@every 12h"}, "or no time of day"},
		{"@weekly", []string{"0 18 * * 1"}, "FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYDAY=SU 42h0m0s"},
		{"", []string{"0 18 * * *"}, "write five fields"},
		{"0 8 * * *", []string{"6 pm"}, `"6 pm": `},
	} {
		e, err := importer.Timetable(c.start, c.ends, "Europe/Berlin", true)
		got := fmt.Sprint(e.Recurrence, " ", e.Duration)
		if err != nil {
			got = err.Error()
		}
		e.Knowledge = event.Knowledge{Replicas: 5}
		if !strings.Contains(got, c.want) || err == nil && e.Check() != nil {
			t.Errorf("%s until %s: %s (%v), want %s", c.start, c.ends, got, e.Check(), c.want)
		}
	}
	_, err := importer.Timetable("0 8,10,12 * * *", []string{"0 18 * * *"}, "UTC", false)
	if err == nil || !strings.Contains(err.Error(), "it begins again before it ends") {
		t.Error(err)
	}
}
