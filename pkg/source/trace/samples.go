package trace

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

// sample is one row: a time in milliseconds since the epoch, a value (NaN for a gap), and the line number for errors.
type sample struct {
	at    int64
	value float64
	line  int
}

// samples has the samples of one column, and what was found out about its times and values.
type samples struct {
	// all has every sample if the grid has the file's own step. Otherwise steps has the resampled values; it is nil in the first case.
	all   []sample
	steps *steps

	clock   clock
	numbers numbers
	// row is the word for a row in messages, and column is the name of the column.
	row, column string
	// rows is the number of rows. firstTimes has the texts of the first two times. first, earliest and latest are times.
	rows                    int
	firstTimes              [2]string
	first, earliest, latest int64
}

// add adds the next row. column is the index of the time column.
func (s *samples) add(line, column int, stamp, value string) error {
	at, err := s.clock.parse(stamp)
	if err != nil {
		return fmt.Errorf("trace: %s %d, column %d: %w", s.row, line, column+1, err)
	}
	v, err := s.numbers.parse(value)
	if err != nil {
		return fmt.Errorf("trace: %s %d, column %s: %w", s.row, line, printable.Line(s.column), err)
	}
	if s.rows == 0 {
		s.first, s.earliest, s.latest = at, at, at
	}
	if s.rows < len(s.firstTimes) {
		s.firstTimes[s.rows] = clip(stamp)
	}
	s.rows++
	s.earliest, s.latest = min(s.earliest, at), max(s.latest, at)
	if s.steps != nil {
		if err := s.steps.add(at, v); err != nil {
			return fmt.Errorf("trace: %s %d: %w", s.row, line, err)
		}
		return nil
	}
	if len(s.all) == maxRows {
		return fmt.Errorf("trace: %s %d: more than %d rows: merge them into longer steps with --resample 1m, or "+
			"count them with --count 1m", s.row, line, maxRows)
	}
	s.all = append(s.all, sample{at: at, value: v, line: line})
	return nil
}

// countsRows reports whether the times count the rows, from 0 or 1.
func (s *samples) countsRows() bool {
	const second = 1000
	return s.rows > 1 && (s.first == 0 || s.first == second) && s.latest-s.earliest == int64(s.rows-1)*second
}

// isSpreadsheet reports whether the times are day numbers of a spreadsheet in the years 1990 to 2100.
func (s *samples) isSpreadsheet() bool {
	const from, to, second = 32_874, 73_415, 1000
	return s.earliest >= from*second && s.latest <= to*second && s.rows > 1 &&
		s.latest-s.earliest <= int64(s.rows)*second
}

// epochUnit returns the flag for minutes or hours if the times may be counted in this unit since 1970; otherwise it is empty.
func (s *samples) epochUnit() string {
	const from, to = 946_684_800, 2_051_222_400 // The years 2000 to 2035, in seconds.
	for unit, length := range map[string]int64{"m": 60, "h": 3600} {
		if s.earliest/1000 >= from/length && s.latest/1000 <= to/length && s.rows > 1 &&
			(s.latest-s.earliest)/1000 <= int64(s.rows)*24 {
			return unit
		}
	}
	return ""
}

// notes returns the assumptions about times and values.
func (s *samples) notes() []string {
	var out []string
	switch {
	case s.clock.digits != "":
		out = append(out, "times are dates written as digits")
	case s.clock.begun && s.clock.unit != 1:
		out = append(out, "times are "+unitName(s.clock.unit))
	case s.clock.fromZero && s.steps != nil && s.steps.flag != "--resample":
		out = append(out, "times are seconds from 0; if they are milliseconds, add --time-unit ms")
	}
	if s.clock.local && s.clock.zone == nil {
		out = append(out, "times have no time zone and are read as UTC; set another time zone with --time-zone")
	}
	if s.numbers.unit != "" {
		out = append(out, "values are in "+s.numbers.unit)
	}
	return out
}

// maxYears limits the time between the first row and the last.
const maxYears = 100

// toGrid puts the rows on an even grid, with the file's own step or with another one. The file's own step is the median distance between
// two rows.
func (s *samples) toGrid(o *Options) (Trace, error) {
	out := Trace{
		FromZero: s.clock.fromZero, Assumed: s.clock.local && s.clock.zone == nil, Notes: s.notes(),
	}
	if s.rows < minRows {
		return Trace{}, fmt.Errorf("trace: %d rows; at least %d are needed to know the step", s.rows, minRows)
	}
	if s.steps != nil {
		hint := ""
		if s.clock.fromZero && s.clock.unit == 1 {
			hint = ", which count from 0: if they are milliseconds, add --time-unit ms"
		}
		start, values, err := s.steps.values(hint)
		if err != nil {
			return Trace{}, err
		}
		out.Series = forecast.Series{Start: start, Step: o.step(), Values: values}
		if o.Resample > 0 { // Several events at the same time are not the same event.
			out.Merged = s.steps.merged
		}
		out.Notes = append(out.Notes, s.steps.notes()...)
		return out, nil
	}
	if err := s.checkOrder(); err != nil {
		return Trace{}, err
	}
	step := medianOf(s.distances())
	values, err := s.values(step)
	if err != nil {
		return Trace{}, err
	}
	out.Notes = append(out.Notes, s.changedStep(step)...)
	out.Series = forecast.Series{Start: time.UnixMilli(s.all[0].at).UTC(), Step: inMilliseconds(step), Values: values}
	return out, nil
}

// fewRows is the number of rows up to which several rows at the same time are a mistake.
const fewRows = 20

// checkOrder rejects rows that are not a series: rows for events, and rows that are not in order of time.
func (s *samples) checkOrder() error {
	same, back := 0, 0
	for i := 1; i < len(s.all); i++ {
		switch {
		case s.all[i].at == s.all[i-1].at:
			if same == 0 {
				same = i
			}
		case s.all[i].at < s.all[i-1].at && back == 0:
			back = i
		}
	}
	if s.isEvents(same > 0) {
		const events = "trace: the file seems to have one row for each event, or rows of several series (%d rows, and %s): count " +
			"the rows with --count 1m, or add up a column with --sum 1m --column NAME"
		how := "their times have no regular step"
		if same > 0 {
			how = fmt.Sprintf("%s %d has the same time as the one before", s.row, s.all[same].line)
		}
		return fmt.Errorf(events, len(s.all), how)
	}
	if repeated := len(s.all) - 1 - len(s.distances()); repeated > len(s.all)/5 && len(s.all) > fewRows {
		const several = "trace: %d of %d rows have the same time as another row: if the file has several series, add them up with --sum %s, " +
			"or export only one; for their mean, add --resample %[3]s"
		return fmt.Errorf(several, repeated, len(s.all), humanize.Span(inMilliseconds(s.usualDistance())))
	}
	at := max(same, back)
	if same > 0 && back > 0 {
		at = min(same, back)
	}
	if at == 0 {
		return nil
	}
	hint := ""
	if s.clock.local {
		hint = "; if the reason is a change to or from daylight saving time, set the time zone with --time-zone"
	}
	what := "is before the time"
	if s.all[at].at == s.all[at-1].at {
		what = "equals the time"
	}
	return fmt.Errorf("trace: %s %d: its time %s of %s %d; to sort the rows and to take the mean of rows with "+
		"the same "+"time, add --resample %s%s", s.row, s.all[at].line, what, s.row, s.all[at-1].line,
		humanize.Span(inMilliseconds(s.usualDistance())), hint)
}

// distances returns the positive distances between the times in ascending order.
func (s *samples) distances() []int64 {
	at := make([]int64, len(s.all))
	for i := range s.all {
		at[i] = s.all[i].at
	}
	return distancesOf(at)
}

// distancesOf returns the positive distances between times in ascending order. It sorts the times.
func distancesOf(at []int64) (out []int64) {
	slices.Sort(at)
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d > 0 {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// usualDistance returns the median of the distances, at least a second.
func (s *samples) usualDistance() int64 { return max(1000, medianOf(s.distances())) }

// hasEvents reports whether the first rows are for events.
func (t *table) hasEvents() bool {
	var s samples
	same := false
	for _, r := range t.seen {
		at, err := s.clock.parse(r.row[t.time])
		if err != nil {
			return false
		}
		if n := len(s.all); n > 0 && s.all[n-1].at == at {
			same = true
		}
		s.all = append(s.all, sample{at: at})
	}
	return s.isEvents(same)
}

// isEvents reports whether the rows are for events. In that case, several rows have the same time, or they are less than a second apart at
// varying distances. If the step is even, a few rows at the same time are an error of the clock.
func (s *samples) isEvents(same bool) bool {
	all := s.distances()
	if len(all) == 0 {
		return same && len(s.all) > minRows
	}
	const tenfold, second = 10, 1000
	median, usual := medianOf(all), 0
	for _, d := range all {
		if d == median {
			usual++
		}
	}
	if same {
		return 2*usual <= len(all) || len(s.all)-1 > 2*len(all)
	}
	low, high := all[len(all)/20], all[len(all)-1-len(all)/20]
	return median < second && high > tenfold*low
}

// changedStep says where the step of the rows changes.
func (s *samples) changedStep(step int64) []string {
	const enough = 12
	run, before := 0, int64(0)
	for i := 1; i < len(s.all); i++ {
		d := s.all[i].at - s.all[i-1].at
		if d != before {
			run, before = 0, d
		}
		run++
		if run == enough && d != step {
			return []string{
				fmt.Sprintf("the step changes: it is %[3]s at %[1]s %[2]d and %[4]s in most of the file; for an "+
					"even step, add "+"--resample %[5]s", s.row, s.all[i].line, humanize.Span(inMilliseconds(d)),
					humanize.Span(inMilliseconds(step)), humanize.Span(inMilliseconds(max(d, step)))),
			}
		}
	}
	return nil
}

// checkSpan limits the grid for some rows. hint says what the times may be instead.
func checkSpan(start, end, step int64, rows int, hint string) error {
	points := (end-start)/step + 1
	if points > maxPoints {
		return fmt.Errorf("trace: %d steps of %v from the first row to the last; at most %d are allowed",
			points, inMilliseconds(step), maxPoints)
	}
	const many, sparse = 1_000_000, 20
	if points > many && points > sparse*int64(rows) {
		return fmt.Errorf("trace: %d steps of %v from the first time to the last, but only %d rows: check the "+
			"times%s, or use longer steps", points, inMilliseconds(step), rows, hint)
	}
	if years := (end - start) / (365 * 24 * time.Hour).Milliseconds(); years > maxYears {
		return fmt.Errorf("trace: %d years from the first row to the last; at most %d are allowed: "+
			"check the times", years, maxYears)
	}
	return nil
}

// largestJump says before which row the largest gap is.
func (s *samples) largestJump() string {
	at, largest := 0, int64(0)
	for i := 1; i < len(s.all); i++ {
		if d := s.all[i].at - s.all[i-1].at; d > largest {
			at, largest = i, d
		}
	}
	return fmt.Sprintf(" (the largest gap, %s, is before %s %d)", humanize.Span(inMilliseconds(largest)), s.row,
		s.all[at].line)
}

// values returns the values on the grid from the first row to the last.
func (s *samples) values(step int64) ([]float64, error) {
	start, end := s.all[0].at, s.all[len(s.all)-1].at
	if err := checkSpan(start, end, step, len(s.all), s.largestJump()); err != nil {
		return nil, err
	}
	values := slices.Repeat([]float64{math.NaN()}, int((end-start)/step+1))
	for _, one := range s.all {
		if after := one.at - start; after%step != 0 {
			return nil, fmt.Errorf("trace: %s %d: its time is %v after the first row, which is not a multiple of "+
				"the step of %v; for an "+
				""+"even step, add --resample %s; if each row is an event, count the rows with --count 1m", s.row,
				one.line, inMilliseconds(after), inMilliseconds(step), humanize.Span(inMilliseconds(step)))
		}
		values[(one.at-start)/step] = one.value
	}
	return values, nil
}

func inMilliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// medianOf sorts numbers and returns the lower median; 0 if there are none.
func medianOf(all []int64) int64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}
