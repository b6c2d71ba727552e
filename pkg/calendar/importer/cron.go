package importer

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/forewarm/forewarm/pkg/calendar"
)

// starred is the bit of a field that is *.
const starred = 1 << 63

// Crontab reads the lines of a cron table: five fields or @daily and its kin, and a command, which gives the name. Occurrences are from the
// given day on, by the clock of the zone or of a line CRON_TZ=ZONE before. A line TZ=ZONE is for the commands and moves no time, as in cronie.
func Crontab(data []byte, from time.Time, zone string, duration time.Duration) Result {
	var out Result
	for line := range strings.SplitSeq(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if set := assignment.FindStringSubmatch(line); set != nil {
			if set[1] == "CRON_TZ" {
				zone = strings.Trim(set[2], `"'`)
			}
			continue
		}
		out.addLine(line, calendar.Event{Start: from.Format(dateLayout), TimeZone: zone, Duration: duration})
	}
	return out
}

var (
	assignment = regexp.MustCompile(`^(\w+)\s*=\s*(\S*)`)
	// quartzDay is a day of the week where a command is expected: the line begins with seconds.
	quartzDay = regexp.MustCompile(`^[*?\d][*?\d,/-]*$`)
	word      = regexp.MustCompile(`^[a-z_][a-z0-9_-]*$`)
)

// nameOf is the name of a command: its first word. In /etc/crontab a user precedes it. A word before an absolute path is such a user, or
// runs the file, as in "php /srv/report.php".
func nameOf(command []string) string {
	switch {
	case len(command) == 0:
		return "cron"
	case len(command) > 1 && (command[0] == "root" ||
		word.MatchString(command[0]) && command[0] != "cd" && strings.HasPrefix(command[1], "/")):
		return path.Base(command[1])
	}
	return path.Base(command[0])
}

// addLine adds the events of a line.
func (r *Result) addLine(line string, e calendar.Event) {
	fields := strings.Fields(line)
	times := min(5, len(fields)) //nolint:mnd // Minute, hour, day, month, day of the week.
	if strings.HasPrefix(line, "@") {
		times = 1
	}
	e.Name = nameOf(fields[times:])
	either := false // A day must satisfy both fields if one of them begins with *, otherwise either of them.
	if times == weekdayField+1 {
		either = !strings.ContainsAny(fields[dayField][:1]+fields[weekdayField][:1], "*?")
		fields[weekdayField] = sunday(fields[weekdayField])
	}
	schedule, err := cron.ParseStandard(strings.Join(fields[:times], " "))
	spec, regular := schedule.(*cron.SpecSchedule)
	switch {
	case regular && times == weekdayField+1 && len(fields) > times && quartzDay.MatchString(fields[times]):
		r.leave(e.Name, line, "it has six fields: remove the seconds, so that five remain, such as 0 9 * * 1-5")
	case regular:
		for _, e.Recurrence = range rulesOf(spec, either) {
			r.Events = append(r.Events, e)
		}
	case times == 1 && strings.HasPrefix(line, "@"):
		r.leave(e.Name, line, "%s has no time of day: write five fields such as 0 9 * * 1-5", fields[0])
	default:
		r.leave(e.Name, line, "%w: write five fields such as 0 9 * * 1-5", err)
	}
}

// dayField and weekdayField are the places of the days of the month and of the week among the fields.
const (
	dayField     = 2
	weekdayField = 4
)

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

// rulesOf are the recurrences of a schedule: two rules if a day of the month or a day of the week is enough.
func rulesOf(s *cron.SpecSchedule, either bool) []string {
	rule := "FREQ=DAILY" + list("BYMONTH", s.Month, number) + list("BYHOUR", s.Hour&^starred, number) +
		list("BYMINUTE", s.Minute&^starred, number)
	days, weekdays := list("BYMONTHDAY", s.Dom, number), list("BYDAY", s.Dow, weekday)
	if either && days != "" && weekdays != "" {
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
