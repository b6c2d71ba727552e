package prometheus

import "io"

// keptSeries is how many series of an answer are read. One is expected; the second is named in the error.
const keptSeries = 2

// furtherSeries is in place of the rest of an answer with more series, whose array and objects it closes.
const furtherSeries = `{"metric":{},"values":[]}]}}`

// firstSeries reads the first series of an answer to a range query, {"status":…,"data":{"result":[{series},…]}}. Where more
// follow, the rest is not read: a store that ignores the limit of a query may send megabytes of them.
type firstSeries struct {
	from io.Reader
	// open are the first brackets that are open.
	open     [3]byte
	depth    int
	inString bool
	escaped  bool
	series   int
	// rest replaces what is not read.
	rest string
	over bool
}

// Read implements io.Reader.
func (f *firstSeries) Read(p []byte) (int, error) {
	if f.over {
		n := copy(p, f.rest)
		f.rest = f.rest[n:]
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n, err := f.from.Read(p)
	for i, c := range p[:n] {
		if f.begins(c) && f.series > keptSeries {
			f.over, f.rest = true, furtherSeries
			return i, nil
		}
	}
	return n, err //nolint:wrapcheck // Readers return io.EOF as it is.
}

// begins moves on by a byte, and reports whether a series begins with it.
func (f *firstSeries) begins(c byte) bool {
	switch {
	case f.escaped:
		f.escaped = false
	case f.inString:
		f.escaped, f.inString = c == '\\', c != '"'
	case c == '"':
		f.inString = true
	case c == '{' || c == '[':
		series := c == '{' && f.depth == len(f.open) && f.open == [3]byte{'{', '{', '['}
		if f.depth < len(f.open) {
			f.open[f.depth] = c
		}
		f.depth++
		if series {
			f.series++
		}
		return series
	case c == '}' || c == ']':
		f.depth = max(0, f.depth-1)
	}
	return false
}
