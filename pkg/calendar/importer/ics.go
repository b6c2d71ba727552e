// Package importer reads the times of events from calendars (RFC 5545) and from cron tables. What is known of the demand then, they do not
// say.
package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/forewarm/forewarm/pkg/calendar"
)

// Result is what was read.
type Result struct {
	// Events are without knowledge, and not checked.
	Events []calendar.Event
	// LeftOut is what could not be read.
	LeftOut []LeftOut
}

// LeftOut is an event that could not be read. The reason ends with what to do.
type LeftOut struct {
	Name   string
	Reason error
}

// leave leaves out an event. shown is what the message calls it.
func (r *Result) leave(name, shown, format string, args ...any) {
	err := fmt.Errorf("%.64q is left out: "+format, append([]any{shown}, args...)...)
	r.LeftOut = append(r.LeftOut, LeftOut{name, err})
}

const (
	// most is how many further times an event has.
	most = 128
	// clockLayout is that of times by the clock.
	clockLayout = "2006-01-02T15:04:05"
	dateLayout  = "2006-01-02"
	day         = 24 * time.Hour
)

// entry is an entry of a calendar.
type entry struct {
	calendar.Event

	uid string
	// replaces is the start of the occurrence of another entry of this uid that this one replaces, or cancels; nil if none.
	replaces  *moment
	cancelled bool
}

// ICS reads the entries of a calendar. Times without a zone, and days, are of the given one; where that is empty, of the calendar's own. Several
// entries of one name and duration become one event.
func ICS(data []byte, zone string) (Result, error) {
	parsed, err := ics.ParseCalendar(bytes.NewReader(data))
	if err != nil {
		return Result{}, fmt.Errorf("not a calendar (RFC 5545): %w", err)
	}
	for _, p := range parsed.CalendarProperties {
		switch {
		case p.IANAToken == string(ics.PropertyXWRTimezone):
			zone = cmp.Or(zone, p.Value)
		case p.IANAToken == string(ics.PropertyMethod) && strings.EqualFold(p.Value, "CANCEL"):
			const cancels = "the calendar cancels its entries (METHOD:CANCEL): delete their DemandEvents, or import a " +
				"calendar that publishes its entries"
			return Result{}, errors.New(cancels)
		}
	}
	var out Result
	var entries []entry
	for _, e := range parsed.Events() {
		one, err := read(e, zone)
		if err != nil {
			out.leave(one.Name, one.Name, "%w", err)
			continue
		}
		entries = append(entries, one)
	}
	for i := range entries {
		if replaced := entries[i].replaces; replaced != nil {
			except(entries, entries[i].uid, replaced)
		}
	}
	for i := range entries {
		if !entries[i].cancelled {
			out.add(&entries[i].Event)
		}
	}
	return out, nil
}

// except takes an occurrence out of the entry that recurs.
func except(entries []entry, uid string, at *moment) {
	for i := range entries {
		if e := &entries[i]; e.uid == uid && e.Recurrence != "" {
			e.ExceptOn = append(e.ExceptOn, at.in(e.TimeZone).text())
		}
	}
}

// add adds an event, or its time to one that is there.
func (r *Result) add(e *calendar.Event) {
	i := slices.IndexFunc(r.Events, func(other calendar.Event) bool {
		return e.Recurrence == "" && other.Recurrence == "" && len(e.AlsoOn)+len(e.ExceptOn) == 0 &&
			other.Name == e.Name &&
			other.Duration == e.Duration &&
			other.TimeZone == e.TimeZone
	})
	switch {
	case i < 0:
		r.Events = append(r.Events, *e)
	case len(r.Events[i].AlsoOn) >= most:
		r.leave(e.Name, e.Name, "on %s: there are already %d events of this name: import fewer events with a later "+
			"--since", e.Start, most+1)
	default:
		r.Events[i].AlsoOn = append(r.Events[i].AlsoOn, e.Start)
	}
}

// read reads an entry. The name is valid even if there is an error.
func read(e *ics.VEvent, zone string) (entry, error) {
	text := func(p ics.ComponentProperty) string {
		if found := e.GetProperty(p); found != nil {
			return found.Value
		}
		return ""
	}
	out := entry{uid: text(ics.ComponentPropertyUniqueId), cancelled: text(ics.ComponentPropertyStatus) == "CANCELLED"}
	out.Name = cmp.Or(strings.TrimSpace(text(ics.ComponentPropertySummary)), "event")
	begin, err := timeOf(e.GetProperty(ics.ComponentPropertyDtStart), zone)
	if err != nil {
		return out, fmt.Errorf("its DTSTART %w", err)
	}
	out.Start, out.TimeZone = begin.text(), begin.zone
	if out.Duration, err = durationOf(e, begin); err != nil {
		return out, err
	}
	switch rules := e.GetProperties(ics.ComponentPropertyRrule); len(rules) {
	case 0:
	case 1:
		out.Recurrence = rules[0].Value
	default:
		return out, errors.New("it has several RRULEs: write a separate entry for each")
	}
	if e.HasProperty(ics.ComponentPropertyExrule) {
		return out, errors.New("EXRULE is not supported: write the times at which it does not take place as EXDATE")
	}
	if p := e.GetProperty(ics.ComponentPropertyRecurrenceId); p != nil {
		replaced, err := timeOf(p, begin.zone)
		if err != nil {
			return out, fmt.Errorf("its RECURRENCE-ID %w", err)
		}
		if len(p.ICalParameters["RANGE"]) > 0 {
			const all = "it changes all occurrences from %s on (RANGE=THISANDFUTURE): end the original RRULE before that " +
				"time with UNTIL, and write a separate entry with an RRULE for the later occurrences"
			return out, fmt.Errorf(all, replaced.text())
		}
		out.replaces = &replaced
	}
	var failed error
	times := func(p ics.ComponentProperty) (all []string) {
		for _, property := range e.GetProperties(p) {
			for value := range strings.SplitSeq(property.Value, ",") {
				one := *property
				one.Value = value
				at, err := timeOf(&one, begin.zone)
				failed = errors.Join(failed, err)
				all = append(all, at.in(begin.zone).text())
			}
		}
		return all
	}
	out.ExceptOn, out.AlsoOn = times(ics.ComponentPropertyExdate), times(ics.ComponentPropertyRdate)
	if len(out.ExceptOn) > most || len(out.AlsoOn) > most {
		failed = errors.Join(failed, fmt.Errorf("it has more than %d times: split it into several entries", most))
	}
	return out, failed
}

// moment is a time by the clock of a zone, as if it were UTC, or a date.
type moment struct {
	clock time.Time
	zone  string
	date  bool
}

func (m moment) text() string {
	if m.date {
		return m.clock.Format(dateLayout)
	}
	return m.clock.Format(clockLayout)
}

// in is the same time by the clock of another zone.
func (m moment) in(zone string) moment {
	if m.date || m.zone == zone {
		return m
	}
	at := m.time().In(location(zone))
	m.clock = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
	m.zone = zone
	return m
}

// time is the moment itself.
func (m moment) time() time.Time {
	c := m.clock
	return time.Date(c.Year(), c.Month(), c.Day(), c.Hour(), c.Minute(), c.Second(), 0, location(m.zone))
}

// location is a zone; UTC for one that does not exist, which the check of the event finds.
func location(zone string) *time.Location {
	if found, err := time.LoadLocation(zone); err == nil {
		return found
	}
	return time.UTC
}

// timeOf reads a property: 20261224, 20261224T180000, 20261224T170000Z. Without a zone of its own it is of the given one.
func timeOf(p *ics.IANAProperty, zone string) (moment, error) {
	if p == nil {
		return moment{}, errors.New("is missing")
	}
	out := moment{zone: zone}
	if named := p.ICalParameters["TZID"]; len(named) == 1 {
		out.zone = named[0]
	}
	value, utc := strings.CutSuffix(p.Value, "Z")
	if utc {
		out.zone = ""
	}
	var err error
	if out.clock, err = time.Parse("20060102T150405", value); err == nil {
		return out, nil
	}
	if out.clock, err = time.Parse("20060102", value); err == nil {
		out.date, out.zone = true, zone
		return out, nil
	}
	return out, fmt.Errorf("%.64q is not a time such as 20261224T180000", p.Value)
}

// written is a duration as RFC 5545 writes it.
var written = regexp.MustCompile(
	`^\+?P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$`,
)

func durationOf(e *ics.VEvent, begin moment) (time.Duration, error) {
	if p := e.GetProperty(ics.ComponentPropertyDuration); p != nil {
		parts := written.FindStringSubmatch(p.Value)
		if parts == nil {
			return 0, fmt.Errorf("its DURATION %.64q is not a duration such as PT2H", p.Value)
		}
		var sum time.Duration
		for i, unit := range []time.Duration{7 * day, day, time.Hour, time.Minute, time.Second} {
			n, _ := strconv.Atoi(cmp.Or(parts[i+1], "0")) //nolint:errcheck // They are digits, and few.
			sum += time.Duration(n) * unit
		}
		return sum, nil
	}
	if p := e.GetProperty(ics.ComponentPropertyDtEnd); p != nil {
		end, err := timeOf(p, begin.zone)
		if err != nil {
			return 0, fmt.Errorf("its DTEND %w", err)
		}
		if byClock := end.in(begin.zone).clock.Sub(begin.clock); byClock%day == 0 {
			return byClock, nil // Whole days end at the time of the day at which they begin, even if the clock is changed.
		}
		return end.time().Sub(begin.time()), nil
	}
	if begin.date {
		return day, nil
	}
	return 0, errors.New("it has no end")
}
