package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// content is what a trace holds, unpacked. It is an io.LimitReader whose end is an error, for half a trace is no trace; it
// bounds the lines too, which the CSV reader would keep in memory whole.
type content struct {
	from io.Reader
	// packed is nil where the trace is plain.
	packed *gzip.Reader
	left   int64
	// lines are those that were read to their end, and line is how much of the next one was.
	lines, line int
}

// newContent finds out whether a trace is packed by what it holds, not by a name.
func newContent(r io.Reader) (*content, error) {
	buffered := bufio.NewReader(r)
	magic, err := buffered.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		// What is too short for gzip: the CSV reader says what is wrong with it.
		return &content{from: buffered, left: maxBytes}, nil //nolint:nilerr // See above.
	}
	packed, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("trace: the gzip file is damaged at its very beginning: %w: copy it anew", err)
	}
	return &content{from: packed, packed: packed, left: maxBytes}, nil
}

// Read reads up to the limits.
func (c *content) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("more than %d bytes", int64(maxBytes))
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
	case c.line > maxLine:
		return 0, fmt.Errorf("a line of more than %d bytes", maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		err = c.broken(err)
	}
	return n, err
}

// broken says where a gzip stream cannot be read on.
func (c *content) broken(err error) error {
	switch {
	case c.packed == nil:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the gzip file is cut off, within line %d of what it holds: copy it anew", c.lines+1)
	}
	return fmt.Errorf("the gzip file is damaged at line %d of what it holds, or before: %w: copy it anew",
		c.lines+1, err)
}

// blamed is an error about a row, or what is wrong with the gzip stream that the row is from: a damaged one yields garbage
// before its checksum tells.
func (c *content) blamed(err error) error {
	if c.packed == nil {
		return err
	}
	if _, broken := io.Copy(io.Discard, c); broken != nil {
		return fmt.Errorf("trace: %w", broken)
	}
	return err
}
