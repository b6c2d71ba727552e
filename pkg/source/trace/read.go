// Package trace reads a recorded series from a file: a table as Grafana, spreadsheets and scripts write it (CSV), one JSON object in
// each line, or the JSON of a range query of Prometheus, of CloudWatch, or of VictoriaMetrics' export. Files may be packed with gzip or
// zstd, and in UTF-16. The content tells which, not the name.
//
//	bytes ──> text (unpack.go) ──> rows and the names of their columns (rows.go, answers.go)
//	      ──> times and values (clock.go, numbers.go) ──> the file's own grid (samples.go), or another one (steps.go)
//
// Of a table the first row names the columns and shows what separates them: commas, semicolons or tabs. One column has the time of each
// row. The others are values; a blank, NaN, NA, null or undefined is a gap. Without options the rows are in order of time and lie on
// one grid, whose step is the median distance between them; rows that are missing from the grid are gaps, too. What is not so is an
// error that names its line and says what to do: nothing is guessed in silence.
package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/printable"
)

const (
	minRows    = 2           // The step needs two rows.
	maxRows    = 2_100_000   // Four years of minutes.
	maxPoints  = 4 * maxRows // Points of the grid including gaps, because missing rows need memory, too.
	maxColumns = 1000
	maxLine    = 64 << 10  // In bytes.
	maxBytes   = 256 << 20 // After decompression.
	maxAnswer  = 64 << 20  // JSON with as many samples as rows.
	// maxSummed limits what is read after decompression if rows are not kept.
	maxSummed = 8 << 30
)

// FileName stands in errors for the name of the file, in commands to type.
const FileName = "FILE"

// Options describe what the file itself does not say.
type Options struct {
	// Zone is the time zone of times without one. Nil means UTC, and a note says so.
	Zone *time.Location
	// TimeColumn is the column with the times. Empty means the first column, or the only column that has dates.
	TimeColumn string
	// TimeUnit is the unit of times that are numbers, one of TimeUnits. Empty means the unit that their size suggests.
	TimeUnit string
	// Decimal is the decimal separator of values, "." or ",". The other character separates thousands. Empty means that the file
	// shows which it is.
	Decimal string
	// Resample is the step of the grid. Each value of the grid is the mean of the samples that are closest to it. 0 means the file's
	// own step, and then every sample must be on the grid.
	Resample time.Duration
	// Count and Sum are also steps, for files with one row for each event. Each value of the grid is the number of rows in the step,
	// or the sum of their values. At most one of Resample, Count and Sum is set.
	Count, Sum time.Duration
}

// step returns the step of the grid; 0 for the file's own step.
func (o *Options) step() time.Duration { return max(o.Resample, o.Count, o.Sum) }

// Trace is one column of a file.
type Trace struct {
	forecast.Series

	// Column is the name of the column that was read; empty if rows were counted.
	Column string
	// Merged is the number of rows that have the same time as another row.
	Merged int
	// FromZero: the times are not dates, but count from 0. Assumed: the times have no time zone, and UTC is assumed.
	FromZero, Assumed bool
	// Notes are sentences about what was assumed and changed.
	Notes []string
}

// Columns lists the names of the value columns of a trace, in their order, without the time column.
func Columns(r io.Reader) ([]string, error) {
	t, err := new(Options).open(r)
	if err != nil {
		return nil, err
	}
	return t.values(), nil
}

// ReadColumn reads one column with no options, and leaves its notes out.
func ReadColumn(r io.Reader, column string) (forecast.Series, error) {
	t, err := new(Options).ReadColumn(r, column)
	return t.Series, err
}

// ReadColumn reads one column of a trace by its name; an empty name stands for the only one that has numbers. NaN is a gap. The error
// for an unknown column lists the columns; an error in a row has its line.
func (o *Options) ReadColumn(r io.Reader, column string) (Trace, error) {
	t, err := o.open(r)
	if err != nil {
		return Trace{}, err
	}
	at, err := t.find(column, o.Count > 0)
	if err != nil {
		return Trace{}, err
	}
	if t.events && o.step() == 0 {
		return Trace{}, t.eventsError()
	}
	s := &samples{
		row: t.row, clock: clock{zone: o.Zone, unit: lengthOf(o.TimeUnit), events: o.Count > 0 || o.Sum > 0},
		numbers: numbers{separator: t.separator, decimal: o.Decimal, json: t.row != "line"},
		steps:   newSteps(o),
	}
	if at >= 0 {
		s.column = t.names[at]
	}
	if err = s.readAll(t, at); err == nil {
		err = s.numbers.ambiguous()
		if err != nil {
			err = fmt.Errorf("trace: column %s: %w", printable.Line(s.column), err)
		}
	}
	if err == nil {
		err = t.checkTimes(s, o)
	}
	if err != nil {
		return Trace{}, t.from.explain(err)
	}
	out, err := s.toGrid(o)
	out.Column, out.Notes = s.column, append(out.Notes, t.skippedNote()...)
	return out, err
}

// readAll reads the times of all rows, and the column with an index. A negative index means no column.
func (s *samples) readAll(t *table, at int) error {
	for {
		line, row, err := t.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		value := "1"
		if at >= 0 {
			value = row[at]
		}
		if err := s.add(line, t.time, row[t.time], value); err != nil {
			return err
		}
	}
}

// find returns the index of a value column; -1 if rows are counted.
func (t *table) find(column string, counts bool) (int, error) {
	all := printable.Line(strings.Join(t.values(), ", "))
	if column != "" {
		at := slices.Index(t.names, column)
		if at < 0 || at == t.time {
			return 0, fmt.Errorf("trace: no column %.64q; the value columns are %.200s", column, all)
		}
		return at, nil
	}
	if counts {
		return -1, nil
	}
	var numeric, similar []int
	for i := range t.names {
		switch {
		case i == t.time || isIndexName(t.names[i]):
		case t.isNumeric(i):
			numeric = append(numeric, i)
		case t.resemblesNumbers(i):
			similar = append(similar, i)
		}
	}
	if len(t.values()) == 1 {
		return slices.Index(t.names, t.values()[0]), nil
	}
	if len(numeric) != 1 && (t.events || t.hasEvents()) {
		return 0, t.eventsError()
	}
	if len(numeric)+len(similar) != 1 {
		return 0, fmt.Errorf("trace: the file has several value columns; choose one with --column: %.400s", all)
	}
	return slices.Concat(numeric, similar)[0], nil
}

// eventsError says what to do with a file that has a row for each event.
func (t *table) eventsError() error {
	return fmt.Errorf(
		"trace: the file seems to have one row for each event, or rows of several series: count the rows with "+
			"--count 1m, or add up a column with --sum 1m --column NAME; the columns are %.400s",
		printable.Line(strings.Join(t.values(), ", ")),
	)
}

// values returns the names of all columns except the time column.
func (t *table) values() []string {
	return slices.Concat(t.names[:t.time], t.names[t.time+1:])
}

func clip(s string) string {
	const limit = 40
	return printable.Clip(s, limit)
}

// ReadFile reads one column of a trace file.
func ReadFile(path, column string) (forecast.Series, error) {
	return withFile(path, func(r io.Reader) (forecast.Series, error) { return ReadColumn(r, column) })
}

// FileColumns lists the value columns of a trace file.
func FileColumns(path string) ([]string, error) { return withFile(path, Columns) }

func withFile[T any](path string, read func(io.Reader) (T, error)) (out T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return out, fmt.Errorf("trace: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if out, err = read(file); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}
