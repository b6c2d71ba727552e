// Package calendar reads events: a time or a recurrence, a duration, and what is known of the demand then.
//
// Times of recurrences are wall-clock times of a time zone: an event at nine is at nine on both sides of daylight saving. There is no
// clock.
package calendar

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // An image without a time zone database knows the zones.

	"github.com/rickar/cal/v2"
	"github.com/teambition/rrule-go"

	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Event is an event as somebody wrote it.
type Event struct {
	Name string
	// Start is a date, "2026-12-24", or with a time, "2026-12-24T18:00" or "2026-12-24T18:00:00", of the TimeZone.
	Start string
	// Holidays are those of a country or of a region, "US", "DE-BY", instead of Start and Recurrence.
	Holidays string
	// AlsoOn are further starts, ExceptOn those that do not take place; a date in it means those of that day.
	AlsoOn, ExceptOn []string
	// TimeZone is a name of the time zone database, "Europe/Berlin"; empty for UTC.
	TimeZone string
	// Duration of an occurrence. Whole days end at the time of the day at which they begin. It ends when the next one begins.
	Duration time.Duration
	// Recurrence is a rule of RFC 5545, "FREQ=WEEKLY;BYDAY=MO,TH"; empty for one occurrence.
	Recurrence string

	event.Knowledge
}

// parsed is a valid Event.
type parsed struct {
	name      string
	zone      *time.Location
	duration  time.Duration
	knowledge event.Knowledge
	// Times are by the clock of the zone, as if it were UTC.
	// first is that of the rule, and the only one without a rule.
	first    time.Time
	rule     *rrule.RRule
	holidays []*cal.Holiday
	also     []time.Time
	// except has dates and times; a time without an hour is a date.
	except map[time.Time]bool
}

const (
	// MaxDuration of an occurrence: longer, the demand is no event.
	MaxDuration = 60 * day
	// earliest is the first year of a recurrence: each occurrence since then is looked at.
	earliest = 1970
	latest   = 2200
	day      = 24 * time.Hour
	// maxTimes bounds Knowledge.Times, both ways.
	maxTimes = 1000.0
	// MaxReplicas bounds Knowledge.Replicas.
	MaxReplicas = 10_000
	// maxYearly is how often a rule begins in a year, unless it begins after frequent.
	maxYearly = 1000
	frequent  = 2020
)

// Check returns every problem of an event.
func (s *Event) Check() error {
	_, err := s.parse()
	return err
}

func (s *Event) parse() (parsed, error) {
	out := parsed{name: s.Name, duration: s.Duration, knowledge: s.Knowledge}
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if s.Duration <= 0 || s.Duration > MaxDuration {
		wrong("duration %s: write more than 0s, at most %.0fd", s.Duration, MaxDuration.Hours()/24)
	}
	if err := s.checkKnowledge(); err != nil {
		problems = append(problems, err)
	}
	var err error
	if out.zone, err = time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "Local" {
		wrong("timeZone %q: write a name of the time zone database, for example Europe/Berlin", s.TimeZone)
	}
	if err = s.parseTimes(&out); err != nil {
		problems = append(problems, err)
	}
	if len(problems) == 0 && s.Recurrence != "" {
		if out.rule, err = out.parseRule(s.Recurrence); err != nil {
			wrong("recurrence %q: %w", s.Recurrence, err)
		}
	}
	return out, errors.Join(problems...)
}

// parseTimes reads all times but those of the recurrence.
func (s *Event) parseTimes(out *parsed) error {
	var problems []error
	read := func(field, text string) time.Time {
		t, err := parseTime(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %w", field, err))
		}
		return t
	}
	switch {
	case (s.Start == "") == (s.Holidays == ""):
		return errors.New("write start or holidays")
	case s.Holidays == "":
		out.first = read("start", s.Start)
	case s.Recurrence != "":
		return errors.New("holidays recur by themselves: remove recurrence")
	default:
		var err error
		if out.holidays, err = holidaysOf(s.Holidays); err != nil {
			problems = append(problems, err)
		}
	}
	for _, text := range s.AlsoOn {
		out.also = append(out.also, read("alsoOn", text))
	}
	slices.SortFunc(out.also, time.Time.Compare)
	out.except = map[time.Time]bool{}
	for _, text := range s.ExceptOn {
		out.except[read("exceptOn", text)] = true
	}
	return errors.Join(problems...)
}

func (s *Event) checkKnowledge() error {
	known := 0
	for _, is := range []bool{s.Times != 0, s.AtLeast != 0, s.Replicas != 0, s.LikeLast, s.LikeDay != nil, s.Ignored} {
		if is {
			known++
		}
	}
	switch {
	case known != 1:
		return errors.New("write one of atLeast, replicas, times, like and ignore")
	case s.Times != 0 && !(s.Times >= 1/maxTimes && s.Times <= maxTimes):
		return fmt.Errorf("times %v: write a number from %v to %v", s.Times, 1/maxTimes, maxTimes)
	case s.AtLeast != 0 && !(s.AtLeast > 0 && s.AtLeast < hpa.MaxValue):
		return fmt.Errorf("atLeast %v: write a demand above 0", s.AtLeast)
	case s.Replicas < 0 || s.Replicas > MaxReplicas:
		return fmt.Errorf("replicas %d: write a whole number from 1 to %d", s.Replicas, MaxReplicas)
	}
	return nil
}

// parseTime reads a time by the clock, as if it were UTC.
func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			if t.Year() < earliest || t.Year() > latest {
				return time.Time{}, fmt.Errorf("%s: write a year from %d to %d", text, earliest, latest)
			}
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.64q: write a date, such as 2026-12-24, or a date and a time, such as "+
		"2026-12-24T18:00", text)
}

// in is a time by the clock in a zone, as RFC 5545 has it: the first of two times at which a clock that is set back shows it, and, where
// a clock skips it, the time that it would be without. Go may return either.
func in(zone *time.Location, clock time.Time) time.Time {
	at := func(near time.Duration) (t time.Time, shown bool) {
		_, offset := clock.Add(near).In(zone).Zone()
		t = clock.Add(-time.Duration(offset) * time.Second).In(zone)
		_, own := t.Zone()
		return t, own == offset
	}
	before, shown := at(-day)
	if after, shownAfter := at(day); shownAfter && (!shown || after.Before(before)) {
		return after
	}
	return before
}

// parseRule reads a recurrence.
func (e *parsed) parseRule(text string) (*rrule.RRule, error) {
	option, err := rrule.StrToROption(text)
	if err != nil {
		return nil, fmt.Errorf("%w: write a rule such as FREQ=WEEKLY;BYDAY=MO,TH", err)
	}
	if strings.Contains(strings.ToUpper(text), "DTSTART") {
		return nil, errors.New("remove DTSTART: the field start defines it")
	}
	if option.Freq == rrule.MINUTELY || option.Freq == rrule.SECONDLY || len(option.Byminute) > 1 ||
		len(option.Bysecond) > 1 {
		return nil, errors.New("an event can begin at most once an hour: use a longer interval, and a longer duration")
	}
	if option.Dtstart = e.first; strings.HasSuffix(untilOf(text), "Z") {
		option.Until = clock(option.Until.In(e.zone))
	}
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return nil, err
	}
	return rule, e.checkRule(rule.Iterator())
}

// checkRule: each calendar looks at every occurrence since the first.
func (e *parsed) checkRule(iterator rrule.Next) error {
	for n := 0; ; n++ {
		at, more, err := next(iterator)
		switch {
		case err != nil:
			return err
		case !more && n == 0:
			return errors.New("the rule has no occurrence")
		case !more || at.After(e.first.AddDate(1, 0, 0)):
			return nil
		case n >= maxYearly && e.first.Year() < frequent:
			return fmt.Errorf("the event begins more than %d times a year: write a start of %d or later", maxYearly,
				frequent)
		}
	}
}

// untilOf is the end of a rule as it is written; empty without any.
func untilOf(rule string) string {
	_, after, _ := strings.Cut(strings.ToUpper(rule), "UNTIL=")
	until, _, _ := strings.Cut(after, ";")
	return until
}

// clock is what a clock shows, as if it were UTC.
func clock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// next is the next occurrence. The library panics at some rules that mean nothing, such as the ninth Friday of a month.
func next(iterator rrule.Next) (at time.Time, more bool, err error) {
	defer func() {
		if recover() != nil {
			more, err = false, errors.New("no such time exists")
		}
	}()
	at, more = iterator()
	return at, more, nil
}

// Of is the calendar of events, without those that are not valid; nil for none.
func Of(all []Event) event.Calendar {
	var events []parsed
	for i := range all {
		if e, err := all[i].parse(); err == nil {
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		return nil
	}
	return func(from, to time.Time) []event.Occurrence { return between(events, from, to) }
}

func between(events []parsed, from, to time.Time) []event.Occurrence {
	var out []event.Occurrence
	for i := range events {
		out = events[i].appendBetween(out, from, to)
	}
	slices.SortStableFunc(out, func(a, b event.Occurrence) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Name, b.Name))
	})
	return out
}

func (e *parsed) appendBetween(out []event.Occurrence, from, to time.Time) []event.Occurrence {
	before := len(out)
	for clock := range e.starts() {
		if clock.Add(e.duration + day).Before(from) { // Whatever the zone.
			continue
		}
		start := in(e.zone, clock)
		if last := len(out) - 1; last >= before && out[last].End.After(start) {
			out[last].End = start.UTC()
		}
		if !start.Before(to) {
			break
		}
		end := start.Add(e.duration)
		if e.duration%day == 0 {
			end = in(e.zone, clock.Add(e.duration))
		}
		if end.After(from) {
			out = append(out, event.Occurrence{
				Name: e.name, Start: start.UTC(), End: end.UTC(), Weekday: start.Weekday(), Knowledge: e.knowledge,
			})
		}
	}
	return slices.DeleteFunc(out, func(o event.Occurrence) bool { return !o.End.After(from) || !o.End.After(o.Start) })
}

// starts are those of all occurrences by the clock, ascending, each once.
func (e *parsed) starts() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		var last time.Time
		for at := range merged(e.regular(), e.also) {
			if at.Equal(last) || e.except[at] || e.except[at.Truncate(day)] {
				continue
			}
			if last = at; !yield(at) {
				return
			}
		}
	}
}

// merged are the times of both, ascending.
func merged(regular iter.Seq[time.Time], also []time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		each := func(all []time.Time) bool {
			return !slices.ContainsFunc(all, func(at time.Time) bool { return !yield(at) })
		}
		rest := also
		for at := range regular {
			before, _ := slices.BinarySearchFunc(rest, at, time.Time.Compare)
			if !each(rest[:before]) || !yield(at) {
				return
			}
			rest = rest[before:]
		}
		each(rest)
	}
}

// regular are the starts of the recurrence alone, ascending.
func (e *parsed) regular() iter.Seq[time.Time] {
	switch {
	case e.holidays != nil:
		return datesOf(e.holidays)
	case e.rule != nil:
		return occurrences(e.rule)
	}
	return slices.Values([]time.Time{e.first})
}

func occurrences(rule *rrule.RRule) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for iterator := rule.Iterator(); ; {
			if at, more, err := next(iterator); err != nil || !more || !yield(at) {
				return
			}
		}
	}
}
