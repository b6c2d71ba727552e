package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/forewarm/forewarm/pkg/calendar"
)

// Timetable returns the event that begins at the times of a schedule of a cron table, and ends at the next time of any of the others, by
// the clock of a zone. The event has no name, and nothing is known of the demand. If continues, a start before the end changes nothing;
// otherwise it is an error. The error says what to do.
func Timetable(start string, ends []string, zone string, continues bool) (calendar.Event, error) {
	fields := strings.Fields(start)
	table := Crontab([]byte(strings.Join(fields, " ")), time.Time{}, zone, time.Hour)
	schedules := make([]cron.Schedule, 1+len(ends))
	for i, text := range append([]string{start}, ends...) {
		var err error
		schedules[i], err = cron.ParseStandard(text)
		switch {
		case err != nil:
			return calendar.Event{}, fmt.Errorf("%.64q: %w: write five fields such as 0 8 * * 1-5", text, err)
		case strings.Contains(text, "=") || strings.HasPrefix(text, "@every"):
			const own = "%.64q has a time zone of its own, or no time of day: write five fields such as 0 8 * * 1-5"
			return calendar.Event{}, fmt.Errorf(own, text)
		}
	}
	if slices.Contains(ends, start) {
		return calendar.Event{}, fmt.Errorf("it begins and ends at the same times, %.64q: correct one of them", start)
	}
	restricts := func(i int) bool { return len(fields) > i && fields[i] != "*" && fields[i] != "?" }
	if len(table.Events) != 1 || restricts(dayField) && restricts(weekdayField) {
		const text = "%.64q is not a recurrence: write five fields such as 0 8 * * 1-5, with a day of the month or of the week"
		return calendar.Event{}, fmt.Errorf(text, start)
	}
	e := table.Events[0]
	var err error
	e.Name, e.Start = "", "2025-01-01" // It has always recurred.
	e.Duration, err = length(schedules[0], schedules[1:], continues)
	return e, err
}

// length returns how long each window lasts, from a start to the next end. If continues, there may be other starts before it.
func length(begins cron.Schedule, ends []cron.Schedule, continues bool) (time.Duration, error) {
	from := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second) // Any day, and four years for a leap day.
	until := from.AddDate(4, 0, 0)
	unequal := errors.New("not all its windows have the same length: write one event for each length")
	lasts, gap := time.Duration(0), time.Duration(0)
	for at := begins.Next(from); at.Before(until) && !at.IsZero(); {
		var end time.Time
		for _, s := range ends {
			if next := s.Next(at); !next.IsZero() && (end.IsZero() || next.Before(end)) {
				end = next
			}
		}
		next := begins.Next(at)
		switch {
		case end.IsZero():
			return 0, errors.New("it never ends: set minReplicas instead of an event")
		case !next.IsZero() && next.Sub(at) < time.Hour:
			return 0, errors.New("it begins more than once an hour: write fewer, longer windows")
		case !next.IsZero() && next.Before(end) && !continues:
			return 0, errors.New("it begins again before it ends, and only the time after the last start counts: " +
				"write this start alone")
		case !next.IsZero() && next.Before(end):
			gap = max(gap, next.Sub(at))
		case end.Sub(at) > calendar.MaxDuration:
			return 0, fmt.Errorf("it lasts more than %s: set minReplicas instead of an event", calendar.MaxDuration)
		case lasts != 0 && lasts != end.Sub(at):
			return 0, unequal
		default:
			lasts = end.Sub(at)
		}
		at = next
	}
	if lasts < gap {
		return 0, unequal
	}
	return lasts, nil
}
