// Package trace reads a recorded series from a file, plain or gzipped: CSV, as Grafana, spreadsheets and scripts write it,
// or the JSON of a range query of Prometheus. The content tells which, not the name.
//
// The first row of a CSV names the columns and shows what separates them: commas, semicolons or tabs. The first column is
// the time of each row: seconds (unix time, or from 0), milliseconds, RFC 3339, or the same without a zone. The others are
// values; a blank, NaN, null or undefined is a gap. Rows are in order of time and lie on one grid, whose step is the
// median distance between them, or are resampled; rows that are missing from the grid are gaps too. What is not so is an
// error that names its line.
package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/printable"
)

const (
	minRows    = 2           // To know the step.
	maxRows    = 2_100_000   // Four years of minutes.
	maxPoints  = 4 * maxRows // Of the grid, gaps included: missing rows cost memory, too.
	maxColumns = 1000
	maxLine    = 64 << 10  // In bytes.
	maxBytes   = 256 << 20 // After decompression.
	maxAnswer  = 64 << 20  // Of JSON: as many samples as rows.
	headerPeek = 4 << 10   // How many bytes of the header are searched for the column separator.
)

// Options are what a file does not tell of itself.
type Options struct {
	// Zone is that of times without one; nil is UTC, which is noted then.
	Zone *time.Location
	// Resample is the step of the grid, of which each value is the mean of the samples nearest to it. 0 is the file's own
	// step, off which no sample may lie.
	Resample time.Duration
}

// Trace is one column of a file.
type Trace struct {
	forecast.Series

	// Notes are sentences about what was assumed and changed.
	Notes []string
}

// Columns lists the names of the value columns of a trace, plain or gzipped, in their order, without the time column.
func Columns(r io.Reader) ([]string, error) {
	t, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	return t.columns, nil
}

// ReadColumn reads one column with no options, and leaves its notes out.
func ReadColumn(r io.Reader, column string) (forecast.Series, error) {
	t, err := Options{}.ReadColumn(r, column)
	return t.Series, err
}

// ReadColumn reads one column of a trace, plain or gzipped, by its name. NaN is a gap. The error for an unknown column
// lists the columns; an error in a row has its line.
func (o Options) ReadColumn(r io.Reader, column string) (Trace, error) {
	t, err := readHeader(r)
	if err != nil {
		return Trace{}, err
	}
	i := slices.Index(t.columns, column)
	if i < 0 {
		return Trace{}, fmt.Errorf("trace: no column %.64q; the value columns are %.200s", column,
			printable.Line(strings.Join(t.columns, ", ")))
	}
	s := samples{row: t.row, clock: clock{zone: o.Zone}, column: column}
	if t.answer != nil {
		err = s.readAnswer(t.answer)
	} else {
		s.numbers.separator = t.rows.Comma
		err = s.readRows(t.rows, i+1)
	}
	if err != nil {
		return Trace{}, t.from.explain(err)
	}
	return s.toGrid(o.Resample)
}

// table is a trace after its header.
type table struct {
	columns []string
	rows    *csv.Reader
	// answer is the JSON of a Prometheus, in place of rows.
	answer io.Reader
	// row is what a row is called.
	row  string
	from *unpacked
}

// readHeader reads the first row.
func readHeader(r io.Reader) (*table, error) {
	from, err := newUnpacked(r)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(from)
	begins, _ := buffered.Peek(headerPeek)                       //nolint:errcheck // The next read returns it.
	if mark := []byte("\ufeff"); bytes.HasPrefix(begins, mark) { // Spreadsheets begin UTF-8 with a byte order mark.
		begins = discard(buffered, begins, len(mark))
	}
	if line, _, _ := bytes.Cut(begins, []byte{'\n'}); bytes.HasSuffix(bytes.TrimSpace(line), []byte("=>")) {
		return nil, errors.New("trace: this is the text that promtool prints, want its JSON: add -o json")
	}
	if text := bytes.TrimSpace(begins); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		from.expectJSON()
		return &table{columns: []string{answerColumn}, answer: buffered, row: "sample", from: from}, nil
	}
	return readCSVHeader(buffered, begins, from)
}

// readCSVHeader reads the names of the columns.
func readCSVHeader(buffered *bufio.Reader, begins []byte, from *unpacked) (*table, error) {
	separator := columnSeparator(begins)
	if mark := []byte("sep="); bytes.HasPrefix(begins, mark) && len(begins) > len(mark) {
		// A line for spreadsheets. Its end stays, so that lines are counted.
		separator = rune(begins[len(mark)])
		discard(buffered, begins, len(mark)+1)
	}
	if !slices.Contains([]rune{',', ';', '\t'}, separator) {
		return nil, fmt.Errorf("trace: line 1 says sep=%c, want columns separated by commas, semicolons or tabs",
			separator)
	}
	rows := csv.NewReader(buffered)
	rows.Comma = separator
	rows.ReuseRecord = true
	rows.TrimLeadingSpace = rows.Comma != '\t' // A tab is a space: two of them enclose a gap.
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
	if _, err := new(clock).parse(names[0]); err == nil {
		return nil, fmt.Errorf("trace: line 1 starts with the time %s, want a header such as t,value", clip(names[0]))
	}
	for i, name := range names[1:] {
		if name == "" || slices.Contains(names[1:i+1], name) {
			return nil, fmt.Errorf("trace: line 1: column %d has the name %q, want a unique name", i+2, clip(name))
		}
	}
	return &table{columns: names[1:], rows: rows, row: "line", from: from}, nil
}

// discard drops what was peeked, and returns the rest of it.
func discard(from *bufio.Reader, peeked []byte, n int) []byte {
	rest := bytes.Clone(peeked[n:])
	from.Discard(n) //nolint:errcheck // It is in the buffer.
	return rest
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

// answerColumn is the name of the one column that the answer of a Prometheus has.
const answerColumn = "value"

// readAnswer reads the answer to a range query, whole or its result alone, as promtool prints it. Its values are read one after
// the other: what is hostile ends at the limit of rows.
func (s *samples) readAnswer(from io.Reader) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	type (
		rows struct {
			Values json.RawMessage `json:"values"`
		}
		data struct {
			Result []rows `json:"result"`
		}
	)
	var answer struct {
		Error string `json:"error"`
		Data  data   `json:"data"`
	}
	if bytes.TrimSpace(text)[0] == '{' {
		err = json.Unmarshal(text, &answer)
	} else {
		err = json.Unmarshal(text, &answer.Data.Result)
	}
	const want = "want the answer to /api/v1/query_range with one series, as of sum(…)"
	switch result := answer.Data.Result; {
	case err != nil:
		return fmt.Errorf("trace: the JSON is no answer of a Prometheus: %w: %s", err, want)
	case answer.Error != "":
		return fmt.Errorf("trace: the Prometheus answered with an error: %.200q", answer.Error)
	case len(result) != 1:
		return fmt.Errorf("trace: the answer has %d series, %s", len(result), want)
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Data.Result[0].Values))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return fmt.Errorf("trace: the series has no list of values, %s", want)
	}
	for line := 1; decoder.More(); line++ {
		var pair [2]json.RawMessage
		if err := decoder.Decode(&pair); err != nil || pair[1] == nil {
			return fmt.Errorf("trace: sample %d is no pair of a time and a value", line)
		}
		value := string(pair[1])
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		if err := s.add(line, string(pair[0]), value); err != nil {
			return err
		}
	}
	return nil
}
