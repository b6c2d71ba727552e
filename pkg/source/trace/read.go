// Package trace reads a recorded series from a CSV file, plain or gzipped.
//
// The first row names the columns and shows what separates them: commas, semicolons or tabs. The first column is the
// time of each row: seconds (unix time, or from 0) or RFC 3339. The others are values; a blank one is a gap. Rows are
// in order of time and lie on one grid, whose step is the median distance between them; rows that are missing from the
// grid are gaps too. What is not so is an error that names its line.
package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
)

const (
	// maxRows is the longest trace: four years of minutes.
	maxRows = 2_100_000
	// maxPoints is the longest grid, gaps included; missing rows cost memory too.
	maxPoints = 4 * maxRows
	// maxBytes is the largest file after decompression.
	maxBytes = 256 << 20
	// maxLine is the longest line in bytes.
	maxLine = 64 << 10
	// headerPeek is how many bytes of the header are searched for the column separator.
	headerPeek = 4 << 10
	// maxColumns is the widest row.
	maxColumns = 1000
	// minRows is the number of rows needed to know the step.
	minRows = 2
	// maxSeconds is 9999-12-31; a larger number is not seconds (but milliseconds, an id).
	maxSeconds = 253_402_300_799
	// maxYears is the longest time from the first row to the last.
	maxYears = 100
)

// Columns lists the names of the value columns of a trace, plain or gzipped, in their order, without the time column.
func Columns(r io.Reader) ([]string, error) {
	t, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	return t.columns, nil
}

// ReadColumn reads one column of a trace, plain or gzipped, by its name. NaN is a gap. The error for an unknown column
// lists the columns; an error in a row has its line.
func ReadColumn(r io.Reader, column string) (forecast.Series, error) {
	t, err := readHeader(r)
	if err != nil {
		return forecast.Series{}, err
	}
	i := slices.Index(t.columns, column)
	if i < 0 {
		return forecast.Series{}, fmt.Errorf("trace: no column %.64q; the value columns are %.200s", column,
			printable.Line(strings.Join(t.columns, ", ")))
	}
	samples, err := readSamples(t.rows, i+1, column)
	if err != nil {
		return forecast.Series{}, t.from.explain(err)
	}
	return toGrid(samples)
}

// table is a trace after its header.
type table struct {
	columns []string
	rows    *csv.Reader
	from    *unpacked
}

// readHeader reads the first row.
func readHeader(r io.Reader) (*table, error) {
	from, err := newUnpacked(r)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(from)
	begins, _ := buffered.Peek(headerPeek) //nolint:errcheck // The next read returns it.
	rows := csv.NewReader(buffered)
	rows.Comma = columnSeparator(begins)
	rows.ReuseRecord = true
	rows.TrimLeadingSpace = rows.Comma != '\t'                   // A tab is a space: two of them enclose a gap.
	if mark := []byte("\ufeff"); bytes.HasPrefix(begins, mark) { // Spreadsheets begin UTF-8 with a byte order mark.
		if _, err = buffered.Discard(len(mark)); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	first, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("trace: the file is empty, want a header such as t,value")
	}
	if err != nil {
		return nil, from.explain(fmt.Errorf("trace: %w", err))
	}
	if len(first) < 2 || len(first) > maxColumns {
		return nil, fmt.Errorf("trace: line 1 has %d columns, want a time and 1 to %d values, separated by "+
			"commas, semicolons or tabs", len(first), maxColumns-1)
	}
	names := slices.Clone(first)
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	if _, err := parseTime(names[0]); err == nil {
		return nil, fmt.Errorf("trace: line 1 starts with the time %s, want a header such as t,value",
			clip(names[0]))
	}
	for i, name := range names[1:] {
		if name == "" || slices.Contains(names[1:i+1], name) {
			return nil, fmt.Errorf("trace: line 1: column %d has the name %q, want a unique name", i+2,
				clip(name))
		}
	}
	return &table{columns: names[1:], rows: rows, from: from}, nil
}

// columnSeparator is the first comma, semicolon or tab in the first line, outside of quotes; a comma if there is none.
func columnSeparator(begins []byte) rune {
	quoted := false
	for _, c := range begins {
		switch c {
		case '"':
			quoted = !quoted
		case ',', ';', '\t':
			if !quoted {
				return rune(c)
			}
		case '\n':
			return ','
		}
	}
	return ','
}

// sample is one row: a time in milliseconds since the epoch, a value (NaN for a blank), and the line for errors.
type sample struct {
	at    int64
	value float64
	line  int
}

func readSamples(rows *csv.Reader, column int, name string) ([]sample, error) {
	var samples []sample
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
		line, _ := rows.FieldPos(0)
		at, err := parseTime(row[0])
		if err != nil {
			return nil, fmt.Errorf("trace: line %d, column 1: %w", line, err)
		}
		value, err := parseValue(row[column], rows.Comma)
		if err != nil {
			return nil, fmt.Errorf("trace: line %d, column %s: %w", line, printable.Line(name), err)
		}
		if n := len(samples); n > 0 && at <= samples[n-1].at {
			return nil, fmt.Errorf(
				"trace: line %d: time %s is not after that of line %d; sort the rows and remove "+
					"duplicate times",
				line,
				clip(row[0]),
				samples[n-1].line,
			)
		}
		if len(samples) == maxRows {
			return nil, fmt.Errorf(
				"trace: line %d: more than %d rows: keep the newest, or a row for each longer step",
				line,
				maxRows,
			)
		}
		samples = append(samples, sample{at: at, value: value, line: line})
	}
}

// parseTime parses a time as milliseconds since the epoch, rounded.
func parseTime(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s >= 0 && s <= maxSeconds) {
			return 0, fmt.Errorf("time %s: want seconds from 0 to %d", clip(text), int64(maxSeconds))
		}
		return int64(math.Round(s * 1000)), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Unix() < 0 {
		return 0, fmt.Errorf("time %q: want seconds or RFC 3339 such as 2026-01-02T15:04:05Z", clip(text))
	}
	return t.UnixMilli(), nil
}

// parseValue parses a demand: finite, not negative and at most the limit of a sample; blank is NaN. If columns are
// separated otherwise, a comma may be in a number. It is an error, because it may be of decimals or of thousands.
func parseValue(text string, separator rune) (float64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), v > series.MaxSample && !math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: too large for demand, which is at most %.0e; use a larger unit",
			clip(text), series.MaxSample)
	case err != nil && separator != ',' && strings.Contains(text, ","):
		return 0, fmt.Errorf("value %q: want a decimal point and no comma (tr , . < FILE replaces all commas)",
			clip(text))
	case err != nil:
		return 0, fmt.Errorf("value %q: want a number, or nothing for a gap", clip(text))
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: want a finite number, or nothing for a gap", clip(text))
	case v < 0:
		return 0, fmt.Errorf("value %s: demand cannot be negative", clip(text))
	}
	return v, nil
}

// toGrid puts the rows on an even grid. The step is the median distance of two rows.
func toGrid(samples []sample) (forecast.Series, error) {
	if len(samples) < minRows {
		return forecast.Series{}, fmt.Errorf("trace: %d rows, want at least %d to know the step", len(samples), minRows)
	}
	step, start := medianStep(samples), samples[0].at
	points := (samples[len(samples)-1].at-start)/step + 1
	if points > maxPoints {
		return forecast.Series{}, fmt.Errorf(
			"trace: %d steps of %v from the first row to the last, at most %d are allowed",
			points,
			milliseconds(step),
			maxPoints,
		)
	}
	if years := (samples[len(samples)-1].at - start) / (365 * 24 * time.Hour).Milliseconds(); years > maxYears {
		return forecast.Series{}, fmt.Errorf("trace: %d years from the first row to the last, at most %d are allowed: "+
			"check that the times are seconds", years, maxYears)
	}
	values := make([]float64, points)
	for i := range values {
		values[i] = math.NaN()
	}
	for _, s := range samples {
		if (s.at-start)%step != 0 {
			return forecast.Series{}, fmt.Errorf(
				"trace: line %d: %v after the first row, which is not a multiple of the step %v; "+
					"resample the trace to an even step",
				s.line,
				milliseconds(s.at-start),
				milliseconds(step),
			)
		}
		values[(s.at-start)/step] = s.value
	}
	return forecast.Series{Start: time.UnixMilli(start).UTC(), Step: milliseconds(step), Values: values}, nil
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// medianStep is the median distance between rows in milliseconds, at least 1 because times rise.
func medianStep(samples []sample) int64 {
	gaps := make([]int64, len(samples)-1)
	for i := range gaps {
		gaps[i] = samples[i+1].at - samples[i].at
	}
	slices.Sort(gaps)
	return gaps[(len(gaps)-1)/2]
}

func clip(s string) string {
	const limit = 40
	return printable.Clip(s, limit)
}
