package trace

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The years that a time may be of. What is outside is an index, a spreadsheet's day, or a number in another unit.
const firstYear, lastYear = 1990, 2100

// maxFromZero is where times that count from 0 begin at the latest, in seconds.
const maxFromZero = 366 * 86_400

// clock reads the times of a file, one after the other.
type clock struct {
	// zone is that of times without one; nil is UTC.
	zone *time.Location
	// unit is that of numbers, in seconds: as given, or by the size of the first number; 0 until it is known.
	unit float64
	// begun: there was a number. fromZero: numbers are no dates. They count from 0.
	begun, fromZero bool
	// digits is the layout of dates that are digits alone, such as 202510200000; empty for none.
	digits string
	// last is the time before, in milliseconds since the epoch.
	last int64
	// local says that there were times without a zone.
	local bool
	// events: several rows may have one time, and a few may be out of order.
	events bool
}

// parse parses a time as milliseconds since the epoch, rounded.
func (c *clock) parse(text string) (int64, error) {
	at, err := c.read(strings.TrimSpace(text))
	if err == nil {
		c.last = at
	}
	return at, err
}

func (c *clock) read(text string) (int64, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		return c.number(text, n)
	}
	wall, zoned, ok := parseWall(text)
	if !ok && slashes.MatchString(text) {
		const order = `time %q: it is unclear which number is the day and which is the month: write the year first. If the month comes ` +
			`first, use sed -E 's#([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})#\3-\1-\2#' %s > load.csv; if the day comes first, ` +
			`replace \3-\1-\2 in this command with \3-\2-\1`
		return 0, fmt.Errorf(order, clip(text), FileName)
	}
	if !ok {
		return 0, fmt.Errorf("time %q: expected a date and a time such as 2026-01-02 15:04:05, RFC 3339 such as "+
			"2026-01-02T15:04:05Z, or seconds since 1970", clip(text))
	}
	return c.date(text, wall, zoned)
}

// date is the time that a clock shows.
func (c *clock) date(text string, wall time.Time, zoned bool) (int64, error) {
	if wall.Year() < firstYear || wall.Year() > lastYear {
		return 0, fmt.Errorf("time %q: expected a year from %d to %d", clip(text), firstYear, lastYear)
	}
	if zoned {
		return wall.UnixMilli(), nil
	}
	c.local = true
	return c.inZone(wall, text)
}

// unitOf is the unit of a number of seconds, milliseconds, microseconds or nanoseconds since 1970, in seconds, by its size.
func unitOf(n float64) float64 {
	switch {
	case n < 1e11:
		return 1
	case n < 1e14:
		return 1e-3
	case n < 1e17:
		return 1e-6
	}
	return 1e-9
}

// number is a time as a number. The first one tells what the others are.
func (c *clock) number(text string, n float64) (int64, error) {
	const tenDigits, ticks, ticksEnd = 1e9, 6.2e17, 6.7e17
	switch {
	case n >= tenDigits && strings.ContainsAny(text, "eE"):
		return 0, fmt.Errorf("time %s: a spreadsheet has rounded it: format the column as a number without "+
			"decimals, and save it again", clip(text))
	case n > ticks && n < ticksEnd:
		return 0, fmt.Errorf("time %s: these are .NET ticks: convert them to seconds, (ticks - "+
			"621355968000000000) / 10000000", clip(text))
	}
	first, given := !c.begun, c.unit > 0
	c.begun = true
	if first && !given {
		c.digits = digitsLayout(text)
	}
	if c.digits != "" {
		wall, err := time.Parse(c.digits, text)
		if err != nil {
			return 0, fmt.Errorf("time %s: expected a date written as digits, like the first time", clip(text))
		}
		return c.date(text, wall, false)
	}
	if n < 0 {
		return 0, fmt.Errorf("time %s: expected 0 or more", clip(text))
	}
	if first {
		if !given {
			c.unit = unitOf(n)
		}
		c.fromZero = n*c.unit < maxFromZero
	}
	const day, serialFrom, serialTo, serialEpoch = 86_400, 32_874, 73_415, 25_569 // A spreadsheet counts days since 1900.
	if c.unit == day && n >= serialFrom && n <= serialTo {
		n -= serialEpoch
	}
	ms := n * c.unit * 1000
	if at := time.UnixMilli(int64(min(ms, 1e17))).
		UTC(); !c.fromZero &&
		(at.Year() < firstYear || at.Year() > lastYear) {
		return 0, fmt.Errorf("time %s: read as %s since 1970, it is in the year %d; expected a year from %d to %d",
			clip(text), unitName(c.unit), at.Year(), firstYear, lastYear)
	}
	if ms > float64(time.Date(lastYear, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()) && c.fromZero {
		return 0, fmt.Errorf("time %s: expected at most 100 years from 0", clip(text))
	}
	return int64(math.Round(ms)), nil
}

// timeUnit is a unit of times that are numbers: its name for --time-unit, for people, and its length in seconds.
type timeUnit struct {
	flag, name string
	length     float64
}

func timeUnits() []timeUnit {
	return []timeUnit{
		{"ns", "nanoseconds", 1e-9},
		{"us", "microseconds", 1e-6},
		{"ms", "milliseconds", 1e-3},
		{"s", "seconds", 1},
		{"m", "minutes", 60},
		{"h", "hours", 3600},
		{"d", "days", 86_400},
	}
}

// TimeUnits are the names of units of times that are numbers.
func TimeUnits() (flags []string) {
	for _, u := range timeUnits() {
		flags = append(flags, u.flag)
	}
	return flags
}

// lengthOf is a unit in seconds by its flag; 0 for none.
func lengthOf(flag string) float64 {
	for _, u := range timeUnits() {
		if u.flag == flag {
			return u.length
		}
	}
	return 0
}

// unitName is the name of a unit for people, by its length.
func unitName(length float64) string {
	for _, u := range timeUnits() {
		if u.length == length {
			return u.name
		}
	}
	return ""
}

// digitsLayout is the layout of a date of digits alone; empty if the text is none. As a number of seconds since 1970 it would be a
// time after 2033, or none at all.
func digitsLayout(text string) string {
	for _, layout := range []string{"20060102", "2006010215", "200601021504", "20060102150405"} {
		if len(text) != len(layout) {
			continue
		}
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= firstYear && at.Year() <= lastYear {
			return layout
		}
	}
	return ""
}

// The forms of dates with a time or without, and with a zone or without.
var (
	yearFirst = regexp.MustCompile(`^(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})(?:(?:[Tt]|[ _]+|, )(.*))?$`)
	basic     = regexp.MustCompile(`^(\d{8})[Tt](\d{4}(?:\d{2})?)(Z|[+-]\d{2}:?\d{2})?$`)
	dayFirst  = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? +(.*))?$`)
	// slashes begins a date of which the day and the month are unclear.
	slashes = regexp.MustCompile(`^\d{1,2}[/-]\d{1,2}[/-]\d{4}\b`)
	// clf is the time of an access log.
	clf = regexp.MustCompile(`^\[?(\d{2})/([A-Za-z]{3})/(\d{4}):(\d{2}:\d{2}:\d{2}.*?)\]?$`)
	// dayMonth is 20 Oct 2025 00:00, with the day of the week or without; monthDay is Oct 20, 2025 @ 00:00:00.
	dayMonth = regexp.MustCompile(`^(?:[A-Za-z]{3,9},? +)?(\d{1,2})[ -]([A-Za-z]{3,9})[ -](\d{4}),? +(.*)$`)
	monthDay = regexp.MustCompile(`^([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})(?:,? @?,? *(.*))?$`)
	// unixDate is Mon Oct 20 00:00:00 UTC 2025.
	unixDate = regexp.MustCompile(`^[A-Za-z]{3} ([A-Za-z]{3}) +(\d{1,2}) (\d{2}:\d{2}:\d{2})( [A-Z]{3})? (\d{4})$`)
	hours    = regexp.MustCompile(
		`^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([AaPp])\.?[Mm]\.?)?(.*)$`)
	zones = regexp.MustCompile(`^(?:([+-])(\d{2})(?::?(\d{2}))?)$`)
)

// parseWall parses what a clock and a calendar show, in UTC, or an instant if a zone is named. Forms that name the month by a number
// after the day, or the day after it, between slashes are left out: they do not say which is which.
func parseWall(text string) (at time.Time, zoned, ok bool) {
	var date, clock string
	switch {
	case yearFirst.MatchString(text):
		m := yearFirst.FindStringSubmatch(text)
		if m[2] != m[4] {
			return at, false, false
		}
		date, clock = m[1]+"-"+m[3]+"-"+m[5], m[6]
	case basic.MatchString(text):
		m := basic.FindStringSubmatch(text)
		clock = m[2][:2] + ":" + m[2][2:4]
		if len(m[2]) == 6 {
			clock += ":" + m[2][4:]
		}
		date, clock = m[1][:4]+"-"+m[1][4:6]+"-"+m[1][6:], clock+m[3]
	case dayFirst.MatchString(text):
		m := dayFirst.FindStringSubmatch(text)
		date, clock = m[3]+"-"+m[2]+"-"+m[1], m[4]
	case clf.MatchString(text):
		m := clf.FindStringSubmatch(text)
		date, clock = m[3]+"-"+month(m[2])+"-"+m[1], m[4]
	case dayMonth.MatchString(text):
		m := dayMonth.FindStringSubmatch(text)
		date, clock = m[3]+"-"+month(m[2])+"-"+m[1], m[4]
	case monthDay.MatchString(text):
		m := monthDay.FindStringSubmatch(text)
		date, clock = m[3]+"-"+month(m[1])+"-"+m[2], m[4]
	case unixDate.MatchString(text):
		m := unixDate.FindStringSubmatch(text)
		date, clock = m[5]+"-"+month(m[1])+"-"+m[2], m[3]+m[4]
	default:
		return at, false, false
	}
	at, err := time.Parse("2006-1-2", date)
	if err != nil {
		return at, false, false
	}
	if clock == "" {
		return at, false, true
	}
	since, zoned, ok := parseHours(clock)
	return at.Add(since), zoned, ok
}

// month is the number of a month by its English name, or what is no number.
func month(name string) string {
	for m := time.January; m <= time.December; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), strings.ToLower(name)) ||
			m == time.September && strings.EqualFold(name, "sept") {
			return strconv.Itoa(int(m))
		}
	}
	return "0"
}

// parseHours parses the time of a day, less the offset of its zone.
func parseHours(text string) (since time.Duration, zoned, ok bool) {
	m := hours.FindStringSubmatch(text)
	if m == nil {
		return 0, false, false
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s) //nolint:errcheck // Digits, or nothing.
		return n
	}
	hour, minute, second := number(m[1]), number(m[2]), number(m[3])
	if m[5] != "" {
		if hour < 1 || hour > 12 {
			return 0, false, false
		}
		if hour %= 12; strings.EqualFold(m[5], "p") {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false, false
	}
	since = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	if m[4] != "" {
		since += time.Duration(number((m[4] + "00000000")[:9]))
	}
	zone, _, named := strings.Cut(strings.TrimSpace(m[6]), "[") // Java adds [Europe/Berlin] to the offset,
	if named && zone == "" {
		return 0, false, false
	}
	if before, _, two := strings.Cut(zone, " "); two && zones.MatchString(before) { // Go adds UTC or CET.
		zone = before
	}
	switch strings.ToUpper(zone) {
	case "":
		return since, false, true
	case "Z", "UTC", "GMT":
		return since, true, true
	}
	z := zones.FindStringSubmatch(zone)
	if z == nil {
		return 0, false, false
	}
	offset := time.Duration(number(z[2]))*time.Hour + time.Duration(number(z[3]))*time.Minute
	if z[1] == "-" {
		offset = -offset
	}
	return since - offset, true, offset.Abs() <= 24*time.Hour
}

// inZone is a time that a clock of the zone shows. Of an hour that it repeats the first is meant, unless that is over.
func (c *clock) inZone(wall time.Time, text string) (int64, error) {
	zone, at := cmp.Or(c.zone, time.UTC), time.Time{}
	for _, day := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // The offsets before and after a change.
		_, offset := wall.Add(day).In(zone).Zone()
		shown := wall.Add(-time.Duration(offset) * time.Second)
		if _, is := shown.In(zone).Zone(); is == offset && (at.IsZero() || c.isOver(at)) {
			at = shown
		}
	}
	if at.IsZero() {
		return 0, fmt.Errorf("time %q: this time does not exist in the time zone %s, because the clock skips "+
			"that hour: set "+"the right time zone with --time-zone", clip(text), zone)
	}
	return at.UnixMilli(), nil
}

// isOver reports whether a time is over: no row of a series has the time of the one before, and those of events lie a little apart.
func (c *clock) isOver(at time.Time) bool {
	if c.events {
		return at.Add(20*time.Minute).
			UnixMilli() <
			c.last //nolint:mnd // Less than half an hour, the smallest change of a clock.
	}
	return at.UnixMilli() <= c.last
}
