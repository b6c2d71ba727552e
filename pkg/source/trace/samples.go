package trace

import (
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
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
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
		const unsorted = "trace: %s %d: time %s is not after that of %s %d; sort the rows and remove duplicate times%s"
		return fmt.Errorf(unsorted, s.row, line, clip(stamp), s.row, s.all[n-1].line, hint)
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

// numbers reads the values of a column, one after the other.
type numbers struct {
	// separator is what separates columns; where it is no comma, a comma may be in a number.
	separator rune
	// unit is that of the first value; the others have the same.
	unit  string
	known bool
}

// parse parses a demand: finite, not negative and at most the limit of a sample. What stands for no value is NaN.
func (n *numbers) parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "", "nan", "null", "undefined":
		return math.NaN(), nil
	}
	number, unit := text, ""
	// Of these units a number is the same in every row. Grafana scales others: 900 ms, then 1.2 s.
	if before, after, ok := strings.Cut(text, " "); ok && slices.Contains([]string{
		"req", "req/s", "reqps", "rps", "ops/s", "c/s", "requests", "requests/s", "tokens", "tokens/s",
	}, after) {
		number, unit = before, after
	}
	if n.separator != ',' {
		number = decimalPoint(number)
	}
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), v > series.MaxSample && !math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: too large for demand, which is at most %.0e; use a larger unit",
			clip(text), series.MaxSample)
	case err != nil && n.separator != ',' && strings.Contains(text, ","):
		return 0, fmt.Errorf("value %q: its comma may be of decimals or of thousands, want a decimal point and no "+
			"comma (tr , . < FILE replaces all commas)", clip(text))
	case err != nil:
		return 0, fmt.Errorf("value %q: want a number, or nothing for a gap; Grafana leaves units out where Formatted "+
			"data is off (Inspect, Data, Data options)", clip(text))
	case math.IsInf(v, 0):
		return 0, fmt.Errorf("value %s: want a finite number, or nothing for a gap", clip(text))
	case v < 0:
		return 0, fmt.Errorf("value %s: demand cannot be negative", clip(text))
	case n.known && unit != n.unit:
		return 0, fmt.Errorf("value %q: want the unit of the first value, %q, for all", clip(text), n.unit)
	}
	n.unit, n.known = unit, true
	return v, nil
}

// decimalPoint replaces a comma that can only be of decimals: of thousands three digits follow, and no 0 is alone before.
func decimalPoint(text string) string {
	const thousand = 3
	before, after, ok := strings.Cut(text, ",")
	if !ok || strings.ContainsAny(after, ",.") || strings.Contains(before, ".") ||
		len(after) == thousand && before != "0" {
		return text
	}
	return before + "." + after
}

// maxYears is the longest time from the first row to the last.
const maxYears = 100

// toGrid puts the rows on an even grid, of the file's own step or of another. Its own is the median distance of two rows.
func (s *samples) toGrid(resample time.Duration) (Trace, error) {
	if len(s.all) < minRows {
		return Trace{}, fmt.Errorf("trace: %d rows, want at least %d to know the step", len(s.all), minRows)
	}
	step, notes := medianStep(s.all), s.notes()
	if own := step; resample > 0 {
		if step = resample.Milliseconds(); step < max(1, own*9/10) { // Jitter may lengthen the median a little.
			return Trace{}, fmt.Errorf("trace: --resample %s is finer than the file, set --resample %s",
				resample, humanize.Span(inMilliseconds(own)))
		}
		all := len(s.all)
		moved := s.resample(step)
		notes = append(notes, fmt.Sprintf("%d of %d samples were moved to steps of %s: each value is the mean of the "+
			"samples nearest to it", moved, all, humanize.Span(resample)))
		if len(s.all) < minRows {
			return Trace{}, fmt.Errorf("trace: --resample %s leaves %d value, want a shorter one",
				humanize.Span(resample), len(s.all))
		}
	}
	values, err := s.values(step)
	if err != nil {
		return Trace{}, err
	}
	start := time.UnixMilli(s.all[0].at).UTC()
	read := forecast.Series{Start: start, Step: time.Duration(step) * time.Millisecond, Values: values}
	return Trace{Series: read, Notes: notes}, nil
}

// values are those of the grid from the first row to the last.
func (s *samples) values(step int64) ([]float64, error) {
	start, end := s.all[0].at, s.all[len(s.all)-1].at
	points := (end-start)/step + 1
	if points > maxPoints {
		return nil, fmt.Errorf("trace: %d steps of %v from the first row to the last, at most %d are allowed",
			points, inMilliseconds(step), maxPoints)
	}
	if years := (end - start) / (365 * 24 * time.Hour).Milliseconds(); years > maxYears {
		return nil, fmt.Errorf("trace: %d years from the first row to the last, at most %d are allowed: "+
			"check the times", years, maxYears)
	}
	values := slices.Repeat([]float64{math.NaN()}, int(points))
	for _, one := range s.all {
		if after := one.at - start; after%step != 0 {
			return nil, fmt.Errorf("trace: %s %d: %v after the first row, which is not a multiple of the step %v; "+
				"resample the trace to an even step with --resample %s",
				s.row, one.line, inMilliseconds(after), inMilliseconds(step), humanize.Span(inMilliseconds(step)))
		}
		values[(one.at-start)/step] = one.value
	}
	return values, nil
}

// resample moves every sample to the nearest whole step since the epoch. Several of one step become their mean, gaps
// left out: jitter moves a sample to either side of its step.
func (s *samples) resample(step int64) (moved int) {
	kept, count := s.all[:0], 0.0
	for _, one := range s.all {
		at := (one.at + step/2) / step * step
		if at != one.at {
			moved++
		}
		one.at = at
		if n := len(kept); n == 0 || kept[n-1].at != at {
			kept, count = append(kept, one), 0
		}
		if last := &kept[len(kept)-1]; !math.IsNaN(one.value) {
			count++
			if count == 1 {
				last.value = one.value
			}
			last.value += (one.value - last.value) / count
		}
	}
	s.all = kept
	return moved
}

func inMilliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// medianStep is the median distance between rows in milliseconds, at least 1 because times rise.
func medianStep(samples []sample) int64 {
	gaps := make([]int64, len(samples)-1)
	for i := range gaps {
		gaps[i] = samples[i+1].at - samples[i].at
	}
	slices.Sort(gaps)
	return gaps[(len(gaps)-1)/2]
}
