package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/forewarm/forewarm/pkg/printable"
)

// sample is one row: a time in milliseconds since the epoch, a value (NaN for a gap), and the line for errors.
type sample struct {
	at    int64
	value float64
	line  int
}

// samples are those of one column, and what was learnt of its times and values.
type samples struct {
	all     []sample
	clock   clock
	numbers numbers
	// row is what a row is called, column the name of the column.
	row, column string
}

// readRows reads the rows of a CSV.
func (s *samples) readRows(rows *csv.Reader, column int) error {
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		line, _ := rows.FieldPos(0)
		if err := s.add(line, row[0], row[column]); err != nil {
			return err
		}
	}
}

// add adds the next row.
func (s *samples) add(line int, stamp, value string) error {
	before := s.clock.last
	at, err := s.clock.parse(stamp)
	if err != nil {
		return fmt.Errorf("trace: %s %d, column 1: %w", s.row, line, err)
	}
	v, err := s.numbers.parse(value)
	if err != nil {
		return fmt.Errorf("trace: %s %d, column %s: %w", s.row, line, printable.Line(s.column), err)
	}
	n := len(s.all)
	switch {
	case n > 0 && at <= before:
		hint := ""
		if s.clock.local {
			hint = "; if it is the hour that a clock repeats in autumn, name its zone with --time-zone"
		}
		return fmt.Errorf("trace: %s %d: time %s is not after that of %s %d; sort the rows and remove duplicate times%s",
			s.row, line, clip(stamp), s.row, s.all[n-1].line, hint)
	case n == maxRows:
		return fmt.Errorf("trace: %s %d: more than %d rows: keep the newest, or a row for each longer step",
			s.row, line, maxRows)
	}
	s.all = append(s.all, sample{at: at, value: v, line: line})
	return nil
}

// notes are what was assumed of times and values.
func (s *samples) notes() []string {
	var out []string
	if s.clock.unit == milliseconds {
		out = append(out, "times are milliseconds")
	}
	if s.clock.local && s.clock.zone == nil {
		out = append(out, "times have no time zone and are read as UTC: name another with --time-zone")
	}
	if s.numbers.unit != "" {
		out = append(out, "values are in "+s.numbers.unit)
	}
	return out
}
