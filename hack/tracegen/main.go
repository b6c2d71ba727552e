package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/tracegen/servegen"
)

func main() {
	out := flag.String("out", filepath.Join("testdata", "traces"), "folder to write the traces to")
	from := flag.String("servegen", "",
		"folder data/language/m-small of a checkout of ServeGen, to sum up its clients again")
	flag.Parse()
	if err := errors.Join(sumServeGen(*from), writeTraces(*out)); err != nil {
		fmt.Fprintln(os.Stderr, "tracegen:", err)
		os.Exit(1)
	}
}

// writeTraces writes every trace.
func writeTraces(folder string) error {
	for _, t := range traces() {
		s, err := t.series()
		if err != nil {
			return err
		}
		data, err := encode(t.column, t.digits, s)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, t.file)
		if err := os.WriteFile(path, data, 0o644); err != nil { //nolint:gosec // Meant to be read by all.
			return err
		}
		fmt.Printf("%s: %d bytes\n", path, len(data))
	}
	return nil
}

// sumServeGen writes the recorded rate of package servegen; nothing without a folder.
func sumServeGen(folder string) error {
	if folder == "" {
		return nil
	}
	all, err := servegen.Sum(os.DirFS(folder))
	if err != nil {
		return err
	}
	data, err := servegen.Encode(all)
	if err != nil {
		return err
	}
	return os.WriteFile(
		filepath.Join("hack", "tracegen", "servegen", "m-small.csv.gz"),
		data,
		0o644,
	) //nolint:gosec // Meant to be read by all.
}

// encode returns a trace as gzipped CSV: the time in seconds since 1970, and the value. A gap is an empty field. The gzip header has no
// time and no name, so that the same trace always gives the same bytes.
func encode(column string, digits int, s forecast.Series) ([]byte, error) {
	var buffer bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	line := []byte("t," + column + "\n")
	for i, v := range s.Values {
		line = strconv.AppendInt(line, s.TimeAt(i).Unix(), 10)
		line = append(line, ',')
		if !math.IsNaN(v) {
			line = strconv.AppendFloat(line, v, 'f', digits, 64)
		}
		line = append(line, '\n')
	}
	if _, err := zip.Write(line); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return buffer.Bytes(), nil
}
