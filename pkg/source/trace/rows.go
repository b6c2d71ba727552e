package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// headerPeek is how many bytes at the beginning are read to detect the format. seenRows is how many rows are read to find columns with
	// times and numbers.
	headerPeek, seenRows = 4 << 10, 100
)

// table is a trace after its header.
type table struct {
	// names has the names of all columns, and time is the index of the time column.
	names []string
	time  int
	// separator separates columns; it is a comma if nothing separates them.
	separator rune
	// row is the word for a row in messages.
	row string
	// events is true if the format has a row for each event. skipped counts the lines that are not rows.
	events  bool
	skipped int
	// seen has the first rows, which were already read.
	seen []numbered
	// read returns the next row with its line number. The row is valid until the next call.
	read func() (line int, row []string, err error)
	from *unpacked
}

// numbered is a row with its line number.
type numbered struct {
	line int
	row  []string
}

// next returns the next row.
func (t *table) next() (int, []string, error) {
	if len(t.seen) > 0 {
		first := t.seen[0]
		t.seen = t.seen[1:]
		return first.line, first.row, nil
	}
	return t.read()
}

// open reads the header, and finds the column of the times.
func (o *Options) open(r io.Reader) (*table, error) {
	limit := int64(maxBytes)
	if o.step() > 0 {
		limit = maxSummed
	}
	from, err := newUnpacked(r, limit)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(from, headerPeek)
	begins, _ := buffered.Peek(headerPeek)                       //nolint:errcheck // The next read returns it.
	if mark := []byte("\ufeff"); bytes.HasPrefix(begins, mark) { // Spreadsheets write a byte order mark before UTF-8.
		begins = discard(buffered, begins, len(mark))
	}
	if err = refuseUnreadableText(begins); err != nil {
		return nil, err
	}
	t, err := o.openForm(buffered, begins, from)
	if err != nil {
		return nil, err
	}
	for len(t.seen) < seenRows {
		line, row, failed := t.read()
		if errors.Is(failed, io.EOF) {
			break
		}
		if failed != nil && len(t.seen) > 0 && t.from.packed == "" { // The error occurs again when the row is read.
			t.read = func() (int, []string, error) { return 0, nil, failed }
			break
		}
		if failed != nil {
			return nil, t.from.explain(fmt.Errorf("trace: %w", failed))
		}
		t.seen = append(t.seen, numbered{line, slices.Clone(row)})
	}
	err = t.findTime(o.TimeColumn)
	return t, err
}

// openForm opens a trace according to its format.
func (o *Options) openForm(buffered *bufio.Reader, begins []byte, from *unpacked) (*table, error) {
	text := bytes.TrimSpace(begins)
	switch {
	case isAccessLog(begins):
		return openAccessLog(buffered, from), nil
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return openJSON(buffered, from)
	}
	t, err := openCSV(buffered, begins, from)
	if err == nil && len(t.names) == 1 && o.Count == 0 {
		return nil, fmt.Errorf("trace: line 1 has 1 column; expected a time and 1 to %d values, separated by commas, "+
			"semicolons or tabs; to count rows that have only a time, use --count 1m", maxColumns-1)
	}
	return t, err
}

// openCSV reads the names of the columns.
func openCSV(buffered *bufio.Reader, begins []byte, from *unpacked) (*table, error) {
	separator := columnSeparator(begins)
	if mark := []byte("sep="); bytes.HasPrefix(begins, mark) && len(begins) > len(mark) {
		// This line is for spreadsheets. Its line break is kept, so that line numbers are right.
		separator = rune(begins[len(mark)])
		discard(buffered, begins, len(mark)+1)
	}
	if !slices.Contains([]rune{',', ';', '\t'}, separator) {
		return nil, fmt.Errorf("trace: line 1 says sep=%c; expected columns separated by commas, semicolons or tabs",
			separator)
	}
	rows := csv.NewReader(buffered)
	rows.Comma = separator
	rows.ReuseRecord = true
	rows.TrimLeadingSpace = rows.Comma != '\t' // A tab counts as space, and two of them enclose a gap.
	first, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("trace: the file is empty; expected a header such as t,value")
	}
	if err != nil {
		return nil, from.explain(fmt.Errorf("trace: %w", err))
	}
	if len(first) > maxColumns {
		return nil, fmt.Errorf("trace: line 1 has %d columns; expected a time and 1 to %d values, separated by "+
			"commas, semicolons or tabs", len(first), maxColumns-1)
	}
	names := slices.Clone(first)
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	if _, err := new(clock).parse(names[0]); err == nil {
		return nil, fmt.Errorf("trace: line 1 starts with the time %s; expected a header such as t,value",
			clip(names[0]))
	}
	for i, name := range names[1:] {
		if _, _, isTime := parseWall(name); isTime {
			return nil, fmt.Errorf("trace: line 1 has the time %s; expected a header such as t,value", clip(name))
		}
		if name == "" || slices.Contains(names[1:i+1], name) {
			return nil, fmt.Errorf("trace: line 1: column %d has the name %q; expected a unique name. If a title "+
				"is above the header, "+"remove it, for example the first two lines: tail -n +3 %s > load.csv",
				i+2, clip(name), FileName)
		}
	}
	return &table{names: names, separator: separator, row: "line", from: from, read: func() (int, []string, error) {
		row, err := rows.Read()
		if errors.Is(err, csv.ErrFieldCount) {
			return 0, nil, fmt.Errorf("%w: line 1 has a different number; if line 1 is a title, remove it: tail -n "+
				"+2 %s > load.csv; if this line is a total or a comment, remove this line", err, FileName)
		}
		if err != nil {
			return 0, nil, err
		}
		line, _ := rows.FieldPos(0)
		return line, row, nil
	}}, nil
}

// discard drops n bytes that were peeked at, and returns the remaining peeked bytes.
func discard(from *bufio.Reader, peeked []byte, n int) []byte {
	rest := bytes.Clone(peeked[n:])
	from.Discard(n) //nolint:errcheck // It is in the buffer.
	return rest
}

// columnSeparator returns the first comma, semicolon or tab in the first line that is not in quotes; a comma if there is none.
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
