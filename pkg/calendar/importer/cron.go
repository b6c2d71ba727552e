package importer

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/forewarm/forewarm/pkg/calendar"
)

// starred is the bit of a field that is *.
const starred = 1 << 63

// Crontab reads the lines of a cron table: five fields or @daily and its kin, and a command, whose first word is the name. Occurrences are
// from the given day on, by the clock of the zone or of a line CRON_TZ=ZONE before.
func Crontab(data []byte, from time.Time, zone string, duration time.Duration) Result {
	var out Result
	for line := range strings.SplitSeq(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, value, is := strings.Cut(strings.Fields(line)[0], "="); is {
			if name == "CRON_TZ" || name == "TZ" {
				zone = strings.Trim(value, `"'`)
			}
			continue
		}
		out.addLine(line, calendar.Event{Start: from.Format(dateLayout), TimeZone: zone, Duration: duration})
	}
	return out
}

// addLine adds the events of a line.
func (r *Result) addLine(line string, e calendar.Event) {
	fields := strings.Fields(line)
	times := min(5, len(fields)) //nolint:mnd // Minute, hour, day, month, day of the week.
	if strings.HasPrefix(line, "@") {
		times = 1
	}
	e.Name = "cron"
	if len(fields) > times {
		e.Name = path.Base(fields[times])
	}
	if times == weekdayField+1 {
		fields[weekdayField] = sunday(fields[weekdayField])
	}
	schedule, err := cron.ParseStandard(strings.Join(fields[:times], " "))
	spec, regular := schedule.(*cron.SpecSchedule)
	switch {
	case err != nil:
		r.leave(line, "%w", err)
	case !regular:
		r.leave(line, "it begins at no time of the clock: write five fields, 0 9 * * 1-5")
	default:
		for _, e.Recurrence = range rulesOf(spec) {
			r.Events = append(r.Events, e)
		}
	}
}

// weekdayField is the place of the days of the week among the fields.
const weekdayField = 4

// sunday writes the 7 that a cron table may have for Sunday as 0.
func sunday(field string) string {
	var out []string
	for part := range strings.SplitSeq(field, ",") {
		days, step, stepped := strings.Cut(part, "/")
		first, last, ranged := strings.Cut(days, "-")
		from, wrong := strconv.Atoi(first)
		every, odd := strconv.Atoi(step)
		switch {
		case days == "7":
			part = "0"
		case ranged && first == "7":
			part = "0" + strings.TrimPrefix(part, "7")
		case ranged && last == "7" && wrong == nil && from >= 0 && (!stepped || odd == nil && every > 0):
			var all []string
			for day := from; day <= 7; day += max(every, 1) {
				all = append(all, strconv.Itoa(day%7))
			}
			part = strings.Join(all, ",")
		}
		out = append(out, part)
	}
	return strings.Join(out, ",")
}

// rulesOf are the recurrences of a schedule. Days of the month and days of the week, if neither is *, are both meant: two rules.
func rulesOf(s *cron.SpecSchedule) []string {
	rule := "FREQ=DAILY" + list(
		"BYMONTH",
		s.Month,
		number,
	) + list(
		"BYHOUR",
		s.Hour&^starred,
		number,
	) + list("BYMINUTE", s.Minute&^starred, number)
	days, weekdays := list("BYMONTHDAY", s.Dom, number), list("BYDAY", s.Dow, weekday)
	if days != "" && weekdays != "" {
		return []string{rule + days, rule + weekdays}
	}
	return []string{rule + days + weekdays}
}

// list is a part of a rule with the bits of a field; empty for *.
func list(part string, bits uint64, name func(int) string) string {
	if bits&starred != 0 {
		return ""
	}
	var all []string
	for i := range 60 {
		if bits&(1<<i) != 0 {
			all = append(all, name(i))
		}
	}
	return fmt.Sprintf(";%s=%s", part, strings.Join(all, ","))
}

func number(i int) string { return strconv.Itoa(i) }

func weekday(i int) string { return strings.ToUpper(time.Weekday(i).String()[:2]) }
