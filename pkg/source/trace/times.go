package trace

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/printable"
)

// timesIn is the kind of times in the cells of a column.
type timesIn int

// Kinds of cells. A column with a later kind is preferred.
const (
	noTimes timesIn = iota
	// countedTimes are numbers that are not dates.
	countedTimes
	// epochs are numbers of seconds, or of a smaller unit, since 1970.
	epochs
	// dates are texts, or numbers whose digits are a date.
	dates
)

// timesOf returns the kind of times that the first rows have in a column.
func (t *table) timesOf(column int) timesIn {
	var c clock
	seen := false
	for _, r := range t.seen {
		text := strings.TrimSpace(r.row[column])
		if isGap(text) {
			continue
		}
		seen = true
		if _, err := c.parse(text); err != nil && !c.local { // After a date, reading the row reports it.
			return noTimes
		}
	}
	switch {
	case !seen:
		return noTimes
	case !c.begun || c.digits != "":
		return dates
	case c.fromZero:
		return countedTimes
	}
	return epochs
}

// isNumeric reports whether the cells of a column in the first rows are numbers or empty.
func (t *table) isNumeric(column int) bool {
	n := numbers{separator: t.separator, decimal: "."}
	for _, r := range t.seen {
		if _, err := n.parse(r.row[column]); err != nil {
			return false
		}
	}
	return true
}

// quantity matches a number with thousands separators, a unit or a scale, as people write it.
var quantity = regexp.MustCompile(`^[-+]?(?:\d{1,3}(?:[.,'’ \x{a0}\x{202f}]\d{3})+|\d+)(?:[.,]\d+)? ?[A-Za-zµ%/]*$`)

// resemblesNumbers reports whether most cells of a column in the first rows would be read as numbers by a person.
func (t *table) resemblesNumbers(column int) bool {
	known, similar := 0, 0
	for _, r := range t.seen {
		text := strings.TrimSpace(r.row[column])
		if isGap(text) {
			continue
		}
		known++
		if quantity.MatchString(text) {
			similar++
		}
	}
	return known > 0 && 2*similar > known
}

// isIndexName reports whether the name of a column says that it counts rows. pandas leaves the name empty, or writes "Unnamed: 0".
func isIndexName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "unnamed") ||
		slices.Contains([]string{"", "id", "index", "idx", "row", "rownum", "row_number", "#", "seq"}, name)
}

// mayCountRows reports whether the name of a time column says that it counts rows. In a value column, such a name may mean a number of
// requests.
func mayCountRows(name string) bool {
	return isIndexName(name) || slices.Contains([]string{"n", "no", "nr", "number", "i"}, strings.ToLower(name))
}

// unitByName returns the unit of times according to the name of a column, as the value of --time-unit and for messages; empty if the name
// has no unit.
func unitByName(name string) (unit, words string) {
	switch strings.ToLower(name) {
	case "minute", "minutes", "min", "mins":
		return "m", "minutes"
	case "hour", "hours", "hr", "h":
		return "h", "hours"
	case "day", "days", "d":
		return "d", "days"
	}
	for _, end := range []string{"_ms", " ms", "(ms)", "[ms]", "_millis", "milliseconds"} {
		if strings.HasSuffix(strings.ToLower(name), end) || strings.EqualFold(name, "ms") {
			return "ms", "milliseconds"
		}
	}
	return "", ""
}

// isTimeName reports whether the name of a column says that it has times.
func isTimeName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"time", "date", "timestamp", "seconds", "epoch", "elapsed", "offset"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return slices.Contains([]string{"t", "ts", "s", "sec", "secs", "_time", "bucket", "at"}, name)
}

// findTime finds the time column. This is the given one, or the first column, or the only one with dates if the first has none.
func (t *table) findTime(given string) error {
	if given != "" {
		if t.time = slices.Index(t.names, given); t.time < 0 {
			return fmt.Errorf("trace: no column %.64q for --time-column; the columns are %.400s", given,
				printable.Line(strings.Join(t.names, ", ")))
		}
		return nil
	}
	first := t.timesOf(0)
	if first == dates || first == epochs && isTimeName(t.names[0]) || len(t.seen) == 0 {
		return t.checkTimeOfDay()
	}
	var others []string
	dated := false
	for i, name := range t.names[1:] {
		kind := t.timesOf(i + 1)
		if kind == dates && !dated { // Dates are preferred to numbers.
			others, dated = nil, true
		}
		if kind == dates || kind == epochs && isTimeName(name) && !dated {
			others = append(others, name)
			t.time = i + 1
		}
	}
	if !dated && (first == epochs || first == countedTimes && isTimeName(t.names[0])) {
		others = nil
	}
	switch len(others) {
	case 0:
		t.time = 0
	case 1:
		return t.checkTimeOfDay()
	default:
		return fmt.Errorf("trace: several columns have times; choose one with --time-column: %.400s",
			printable.Line(strings.Join(others, ", ")))
	}
	return nil
}

// timeOfDay matches a cell in a column with times of day.
var timeOfDay = regexp.MustCompile(`^\d{1,2}(?::\d{2}){1,2}(?: ?[AaPp][Mm])?$|^\d{1,2}$`)

// checkTimeOfDay rejects a column with days if another column has the times of day.
func (t *table) checkTimeOfDay() error {
	for _, r := range t.seen {
		if text := strings.TrimSpace(r.row[t.time]); strings.ContainsAny(text, ":Tt") || len(text) > len("2006-01-02") {
			return nil
		}
	}
	for i, name := range t.names {
		name = strings.ToLower(name)
		of := func(r numbered) bool { return !timeOfDay.MatchString(strings.TrimSpace(r.row[i])) }
		if i == t.time ||
			!slices.Contains(
				[]string{"time", "hour", "hours", "hh", "uhrzeit", "heure", "hora", "time of day"},
				name,
			) ||
			len(t.seen) == 0 ||
			slices.ContainsFunc(t.seen, of) {
			continue
		}
		join := ""
		if t.time == 0 && i == 1 {
			join = fmt.Sprintf(
				`: sed -E '1s/[^%[1]c]*%[1]c//; 2,$s/%[1]c([0-9]+)(:[0-9:]+)?([ AaPpMm]*)%[1]c/ \1\2\3%[1]c/; `+
					`2,$s/^([^ ]*) ([0-9]{1,2})%[1]c/\1 \2:00%[1]c/' %[2]s > load.csv`,
				t.separator,
				FileName,
			)
		}
		return fmt.Errorf("trace: column %s has days, and column %s has the time of day: write both in one column%s",
			printable.Line(t.names[t.time]), printable.Line(t.names[i]), join)
	}
	return nil
}

// checkTimes rejects numbers that would be read as seconds but are not.
func (t *table) checkTimes(s *samples, o *Options) error {
	if !s.clock.fromZero || o.TimeUnit != "" || len(s.all) < minRows && s.steps == nil {
		return nil
	}
	name := t.names[t.time]
	const refused = "trace: column %d (%s) has the numbers %s, %s, …"
	begins := fmt.Sprintf(refused, t.time+1, printable.Line(name), s.firstTimes[0], s.firstTimes[1])
	if unit, words := unitByName(name); unit != "" {
		return fmt.Errorf("%s: if these are %s, add --time-unit %s; if they are seconds, add --time-unit s", begins,
			words, unit)
	}
	if s.isSpreadsheet() {
		return fmt.Errorf("%s, which look like the days that a spreadsheet counts: format the column as "+
			"yyyy-mm-dd hh:mm:ss and "+
			""+"save the file again, or add --time-unit d; if these are seconds, add --time-unit s", begins)
	}
	if unit := s.epochUnit(); unit != "" {
		return fmt.Errorf("%s, which may be %s since 1970: then add --time-unit %s; if these are seconds, add "+
			"--time-unit s", begins, unitName(lengthOf(unit)), unit)
	}
	if year := time.UnixMilli(s.latest).UTC().Year(); year >= firstYear {
		return fmt.Errorf("%s: they start at %s and go up to the year %d: remove the rows without a real time", begins,
			printable.Line(s.firstTimes[0]), year)
	}
	if mayCountRows(name) || s.countsRows() && !isTimeName(name) {
		return fmt.Errorf("%s, which look like row numbers: set the column that has the times with "+
			"--time-column, or, if "+"these are seconds, add --time-unit s", begins)
	}
	return nil
}
