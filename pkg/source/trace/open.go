package trace

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/forewarm/forewarm/forecast"
)

// ReadFile reads one column of a trace file.
func ReadFile(path, column string) (forecast.Series, error) {
	var out forecast.Series
	err := withFile(path, func(r io.Reader) (err error) {
		out, err = ReadColumn(r, column)
		return err
	})
	return out, err
}

// FileColumns lists the value columns of a trace file.
func FileColumns(path string) ([]string, error) {
	var out []string
	err := withFile(path, func(r io.Reader) (err error) {
		out, err = Columns(r)
		return err
	})
	return out, err
}

func withFile(path string, read func(io.Reader) error) (err error) {
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
