package trace

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/forewarm/forewarm/forecast"
)

// Open reads one column of a trace file.
func Open(path, column string) (forecast.Series, error) {
	var out forecast.Series
	err := with(path, func(r io.Reader) (err error) {
		out, err = Read(r, column)
		return err
	})
	return out, err
}

// ColumnsOf lists the value columns of a trace file.
func ColumnsOf(path string) ([]string, error) {
	var out []string
	err := with(path, func(r io.Reader) (err error) {
		out, err = Columns(r)
		return err
	})
	return out, err
}

func with(path string, read func(io.Reader) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := read(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// uncompressed is the reader itself, or what its gzip stream holds; that is known by the content, not by a name.
func uncompressed(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	magic, err := buffered.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return buffered, nil //nolint:nilerr // Too short for gzip: the CSV reader says what is wrong with it.
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return unzipped, nil
}
