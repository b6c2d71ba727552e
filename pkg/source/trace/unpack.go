package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
)

// unpacked is the decompressed text of a trace. Unlike an io.LimitReader, it returns an error at its limit, because half a trace is
// useless. It also limits the length of lines, which the CSV reader keeps in memory.
type unpacked struct {
	from io.Reader
	// packed is the name of the compression; empty if the trace is not compressed.
	packed string
	// limit is the maximum size in bytes, and left is the rest of it.
	limit, left int64
	// json is true if the text may be one line of any length.
	json bool
	// lines is the number of lines that were read. line is the number of bytes that were read of the next line.
	lines, line int
}

// unreadablePacking is a compression that is not supported: its first bytes, its name, and the command that unpacks it.
type unreadablePacking struct{ magic, name, unpack string }

func unreadablePackings() []unreadablePacking {
	return []unreadablePacking{
		{"\xfd7zXZ\x00", "compressed with xz", "xz -dc"},
		{"BZh", "compressed with bzip2", "bzip2 -dc"},
		{"PK\x03\x04", "a zip archive or a spreadsheet (save a spreadsheet as CSV)", "unzip -p"},
		{"\x04\x22\x4d\x18", "compressed with lz4", "lz4 -dc"},
		{"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x -so"},
	}
}

// newUnpacked detects the compression and the encoding by the first bytes and not by the file name.
func newUnpacked(r io.Reader, limit int64) (*unpacked, error) {
	buffered := bufio.NewReader(r)
	out := &unpacked{from: buffered, limit: limit, left: limit}
	magic, _ := buffered.Peek(6) //nolint:errcheck // Of a short file it is what there is.
	for _, f := range unreadablePackings() {
		if bytes.HasPrefix(magic, []byte(f.magic)) {
			return nil, fmt.Errorf("trace: the file is %s; expected plain text, gzip or zstd: unpack it with %s %s > "+
				"load.csv", f.name, f.unpack, FileName)
		}
	}
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		packed, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("trace: the gzip file is damaged at its start: %w: copy it again", err)
		}
		out.from, out.packed = packed, "gzip"
	case bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd")):
		const window = 128 << 20
		packed, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, fmt.Errorf("trace: the zstd file is damaged at its start: %w: copy it again", err)
		}
		out.from, out.packed = packed, "zstd"
	}
	out.from = decoded(out.from)
	return out, nil
}

// decoded converts text to UTF-8 with line feeds. Excel and PowerShell write UTF-16, and some programs end lines with carriage returns
// only.
func decoded(r io.Reader) io.Reader {
	buffered := bufio.NewReaderSize(r, headerPeek)
	begins, _ := buffered.Peek(headerPeek) //nolint:errcheck // The next read returns it.

	switch {
	case bytes.HasPrefix(begins, []byte{0xff, 0xfe}),
		len(begins) > 3 && begins[0] != 0 && begins[1] == 0 && begins[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(buffered)
	case bytes.HasPrefix(begins, []byte{0xfe, 0xff}),
		len(begins) > 3 && begins[0] == 0 && begins[2] == 0 && begins[1] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Reader(buffered)
	case bytes.IndexByte(begins, '\r') > 0 && bytes.IndexByte(begins, '\n') < 0:
		return carriageReturns{buffered}
	}

	return buffered
}

// carriageReturns replaces carriage returns by line feeds.
type carriageReturns struct{ from io.Reader }

// Read implements io.Reader.
func (c carriageReturns) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// Read reads up to the limits.
func (c *unpacked) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("more than %d MiB: keep only the columns that are needed, or use --resample, "+
			"--count or --sum, which allow larger files", c.limit>>20)
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
		return 0, fmt.Errorf("a line is longer than %d bytes", maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		err = c.packedError(err)
	}
	return n, err
}

// packedError reports where a compressed stream cannot be read.
func (c *unpacked) packedError(err error) error {
	switch {
	case c.packed == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s file is truncated in line %d of its content: copy it again", c.packed, c.lines+1)
	}
	return fmt.Errorf("the %s file is damaged at or before line %d of its content: %w: copy it again", c.packed,
		c.lines+1, err)
}

// explain returns the error of the compressed stream, if it is damaged, instead of an error about a row. A damaged stream yields garbage
// before its checksum fails.
func (c *unpacked) explain(err error) error {
	if c.packed == "" {
		return err
	}
	if _, broken := io.Copy(io.Discard, c); broken != nil {
		return fmt.Errorf("trace: %w", broken)
	}
	return err
}

// expectJSON removes the limit on lines. It lowers the limit on the whole text, which is kept in memory several times.
func (c *unpacked) expectJSON() {
	c.json = true
	c.left -= c.limit - maxAnswer
	c.limit = maxAnswer
}

// expectLines raises the limit on the whole text again, for JSON that is read line by line.
func (c *unpacked) expectLines(limit int64) {
	c.left += limit - c.limit
	c.limit = limit
}

// refuseUnreadableText rejects text in a format that is not supported. The error contains the name of the format.
func refuseUnreadableText(begins []byte) error {
	line, _, _ := bytes.Cut(begins, []byte{'\n'})
	line = bytes.TrimSpace(line)
	const dump = `awk 'BEGIN {print "t,value"} !/^#/ {print $NF "," $(NF-1)}' ` + FileName + ` > load.csv`
	switch {
	case bytes.HasSuffix(line, []byte("=>")):
		return errors.New(
			"trace: this is promtool's text output; use its JSON output: add -o json to the promtool command",
		)
	case bytes.HasPrefix(line, []byte("#group")),
		bytes.HasPrefix(line, []byte("#datatype")),
		bytes.HasPrefix(line, []byte("#default")):
		return errors.New("trace: this is InfluxDB's annotated CSV: remove the annotations with grep -v '^#' " +
			FileName + " > load.csv, and read load.csv with --time-column _time --column _value")
	case bytes.HasPrefix(line, []byte("# TYPE")), bytes.HasPrefix(line, []byte("# HELP")):
		return errors.New(
			"trace: this is text in the Prometheus exposition format: if it is a dump of one series, with a time " +
				"for each sample, make it a CSV with " + dump,
		)
	case bytes.HasPrefix(line, []byte("{__name__=")):
		return errors.New(
			"trace: this is the output of promtool tsdb dump: if it has one series, make it a CSV with " + dump,
		)
	}
	return nil
}
