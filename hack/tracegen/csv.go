package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// encode writes a trace as gzipped CSV: the time in seconds since 1970 and the value; a gap is an empty field. The gzip
// header has no time and no name, so that the same trace gives the same bytes.
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

// readTrace reads the first value column of an evenly spaced CSV, gzipped or not.
func readTrace(path string) (s forecast.Series, err error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return s, fmt.Errorf("read %s: %w", path, err)
		}
	}
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	if len(rows) < 3 || len(rows[0]) < 2 {
		return s, fmt.Errorf("read %s: %d lines, want a header and at least two rows of time and value", path,
			len(rows))
	}
	if s, err = parseRows(rows[1:]); err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// parseRows puts rows of time and value on the grid of their smallest distance in time; missing values are NaN.
func parseRows(rows [][]string) (forecast.Series, error) {
	times, values := make([]float64, len(rows)), make([]float64, len(rows))
	step := math.Inf(1)
	for i, row := range rows {
		var err error
		if times[i], values[i], err = parseRow(row); err != nil {
			return forecast.Series{}, err
		}
		if i > 0 && times[i] > times[i-1] {
			step = min(step, times[i]-times[i-1])
		}
	}
	if math.IsInf(step, 1) {
		return forecast.Series{}, fmt.Errorf("%d rows at one time, want a series", len(rows))
	}
	span := times[len(times)-1] - times[0]
	grid := slices.Repeat([]float64{math.NaN()}, int(math.Round(span/step))+1)
	for i, t := range times {
		if at := int(math.Round((t - times[0]) / step)); at >= 0 && at < len(grid) {
			grid[at] = values[i]
		}
	}
	start := time.Unix(int64(times[0]), 0).UTC()
	return forecast.Series{Start: start, Step: time.Duration(step * float64(time.Second)), Values: grid}, nil
}

// parseRow is the time and the value of a row; a blank value is NaN.
func parseRow(row []string) (at, value float64, err error) {
	if at, err = strconv.ParseFloat(row[0], 64); err != nil {
		return 0, 0, err
	}
	if row[1] == "" {
		return at, math.NaN(), nil
	}
	value, err = strconv.ParseFloat(row[1], 64)
	return at, value, err
}
