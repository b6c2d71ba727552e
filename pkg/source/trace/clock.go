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

// The range of years of valid times. A number outside is an index, a day in a spreadsheet, or in another unit.
const firstYear, lastYear = 1990, 2100

// maxFromZero is the largest first time, in seconds, with which times can still count from 0.
const maxFromZero = 366 * 86_400

// clock reads the times of a file one after the other.
type clock struct {
	// zone is the time zone of times that do not contain one; nil means UTC.
	zone *time.Location
	// unit is the unit of numbers in seconds: the given one, or one that follows from the size of the first number; 0 until it is known.
	unit float64
	// begun is true after the first number. fromZero is true if numbers count from 0 and are not dates.
	begun, fromZero bool
	// digits is the layout of dates that consist only of digits, for example 202510200000; empty if there are none.
	digits string
	// last is the previous time, in milliseconds since the epoch.
	last int64
	// local is true if there were times without a zone.
	local bool
	// events is true if several rows may have the same time and a few may be out of order.
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

// date returns the time for the reading of a wall clock.
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

// unitOf returns the unit, in seconds, of a number of seconds, milliseconds, microseconds or nanoseconds since 1970. It follows from the
// size of the number.
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

// number reads a time that is a number. The first number determines how the others are read.
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

// timeUnit is a unit of times that are numbers: its name for --time-unit, its name in messages, and its length in seconds.
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

// lengthOf returns the length of a unit in seconds by its flag; 0 if there is no such unit.
func lengthOf(flag string) float64 {
	for _, u := range timeUnits() {
		if u.flag == flag {
			return u.length
		}
	}
	return 0
}

// unitName returns the name of a unit for messages, by its length.
func unitName(length float64) string {
	for _, u := range timeUnits() {
		if u.length == length {
			return u.name
		}
	}
	return ""
}

// digitsLayout returns the layout of a date that consists only of digits; empty if the text is not such a date. As a number of seconds
// since 1970, the text would be a time after 2033 or no valid time.
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

// Forms of dates, with or without a time, and with or without a zone.
var (
	yearFirst = regexp.MustCompile(`^(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})(?:(?:[Tt]|[ _]+|, )(.*))?$`)
	basic     = regexp.MustCompile(`^(\d{8})[Tt](\d{4}(?:\d{2})?)(Z|[+-]\d{2}:?\d{2})?$`)
	dayFirst  = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? +(.*))?$`)
	// slashes matches the beginning of a date in which it is unclear which number is the day and which is the month.
	slashes = regexp.MustCompile(`^\d{1,2}[/-]\d{1,2}[/-]\d{4}\b`)
	// clf matches the time in an access log.
	clf = regexp.MustCompile(`^\[?(\d{2})/([A-Za-z]{3})/(\d{4}):(\d{2}:\d{2}:\d{2}.*?)\]?$`)
	// dayMonth matches 20 Oct 2025 00:00, with or without the day of the week. monthDay matches Oct 20, 2025 @ 00:00:00.
	dayMonth = regexp.MustCompile(`^(?:[A-Za-z]{3,9},? +)?(\d{1,2})[ -]([A-Za-z]{3,9})[ -](\d{4}),? +(.*)$`)
	monthDay = regexp.MustCompile(`^([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})(?:,? @?,? *(.*))?$`)
	// unixDate matches Mon Oct 20 00:00:00 UTC 2025.
	unixDate = regexp.MustCompile(`^[A-Za-z]{3} ([A-Za-z]{3}) +(\d{1,2}) (\d{2}:\d{2}:\d{2})( [A-Z]{3})? (\d{4})$`)
	hours    = regexp.MustCompile(
		`^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([AaPp])\.?[Mm]\.?)?(.*)$`)
	zones = regexp.MustCompile(`^(?:([+-])(\d{2})(?::?(\d{2}))?)$`)
)

// parseWall parses a date and a time of day, in UTC unless a zone is specified. It does not accept dates in which day and month are both
// numbers with slashes between them and come before the year, because they do not show which one is the day.
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

// month returns the number of a month by its English name, as text; "0" for other names.
func month(name string) string {
	for m := time.January; m <= time.December; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), strings.ToLower(name)) ||
			m == time.September && strings.EqualFold(name, "sept") {
			return strconv.Itoa(int(m))
		}
	}
	return "0"
}

// parseHours parses a time of day, and subtracts the offset of its zone.
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
	zone, _, named := strings.Cut(strings.TrimSpace(m[6]), "[") // Java appends [Europe/Berlin] to the offset.
	if named && zone == "" {
		return 0, false, false
	}
	if before, _, two := strings.Cut(zone, " "); two && zones.MatchString(before) { // Go appends UTC or CET.
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

// inZone converts the reading of a clock in the zone. If the clock shows an hour twice, the first one is used, unless it is already over.
func (c *clock) inZone(wall time.Time, text string) (int64, error) {
	zone, at := cmp.Or(c.zone, time.UTC), time.Time{}
	for _, day := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // The offsets before and after a clock change.
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

// isOver reports whether a time is already over. Two rows of a series never have the same time, and events may be slightly out of order.
func (c *clock) isOver(at time.Time) bool {
	if c.events {
		return at.Add(20*time.Minute).
			UnixMilli() <
			c.last //nolint:mnd // Less than half an hour, the smallest change of a clock.
	}
	return at.UnixMilli() <= c.last
}
