package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// unpacked is the decompressed text of a trace. Unlike an io.LimitReader, it returns an error at its limit, because
// half a trace is no trace. It also bounds the lines, which the CSV reader keeps in memory.
type unpacked struct {
	from io.Reader
	// packed is nil where the trace is plain.
	packed *gzip.Reader
	// limit is the largest size in bytes, left what is left of it.
	limit, left int64
	// json is one line of any length.
	json bool
	// lines is the number of lines read, and line the bytes read of the next one.
	lines, line int
}

// newUnpacked detects gzip by the first bytes, not by a name.
func newUnpacked(r io.Reader) (*unpacked, error) {
	buffered := bufio.NewReader(r)
	magic, err := buffered.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		// Too short for gzip: the CSV reader reports what is wrong.
		return &unpacked{from: buffered, limit: maxBytes, left: maxBytes}, nil //nolint:nilerr // See above.
	}
	packed, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("trace: the gzip file is damaged at its start: %w: copy it again", err)
	}
	return &unpacked{from: packed, packed: packed, limit: maxBytes, left: maxBytes}, nil
}

// Read reads up to the limits.
func (c *unpacked) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("more than %d bytes", c.limit)
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left, maxLine)])
	c.left -= int64(n)
	if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
		c.line = n - end - 1
	} else {
		c.line += n
	}
	c.lines += bytes.Count(p[:n], []byte{'\n'})
	switch {
	case c.line > maxLine && !c.json:
		return 0, fmt.Errorf("a line of more than %d bytes", maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		err = c.gzipError(err)
	}
	return n, err
}

// gzipError reports where a gzip stream cannot be read.
func (c *unpacked) gzipError(err error) error {
	switch {
	case c.packed == nil:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the gzip file is truncated in line %d of its content: copy it again", c.lines+1)
	}
	return fmt.Errorf("the gzip file is damaged at or before line %d of its content: %w: copy it again", c.lines+1, err)
}

// explain returns the error of the gzip stream, if it is damaged, in place of an error about a row: a damaged stream
// yields garbage before its checksum fails.
func (c *unpacked) explain(err error) error {
	if c.packed == nil {
		return err
	}
	if _, broken := io.Copy(io.Discard, c); broken != nil {
		return fmt.Errorf("trace: %w", broken)
	}
	return err
}

// expectJSON lifts the bound of lines and lowers that of the whole, which is kept in memory several times.
func (c *unpacked) expectJSON() {
	c.json = true
	c.left -= c.limit - maxAnswer
	c.limit = maxAnswer
}
