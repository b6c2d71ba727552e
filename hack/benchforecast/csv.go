package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// m4Set has one window for each series of the M4 competition's files: one for training, one with the values after it.
func m4Set(trainPath, testPath string) (set, error) {
	train, err := readRows(trainPath)
	if err != nil {
		return set{}, err
	}
	test, err := readRows(testPath)
	if err != nil {
		return set{}, err
	}
	actual := make(map[string][]float64, len(test))
	for _, row := range test {
		actual[row.id] = row.values
	}
	out := set{kind: "m4", name: "M4 hourly", season: 24, seasons: []int{24, 168}}
	for _, row := range train {
		w := window{id: row.id, past: forecast.Series{Start: time.Unix(0, 0), Step: time.Hour, Values: row.values}}
		w.actual = actual[row.id]
		if len(w.actual) == 0 || len(row.values) == 0 {
			return set{}, fmt.Errorf("series %s: %d values in %s, %d in %s, want some in both",
				row.id, len(row.values), trainPath, len(w.actual), testPath)
		}
		out.horizon = max(out.horizon, len(w.actual))
		out.windows = append(out.windows, w)
	}
	if len(out.windows) == 0 {
		return set{}, fmt.Errorf("%s has no series", trainPath)
	}
	return out, nil
}

type row struct {
	id     string
	values []float64
}

// readRows reads a file with a header, and in each row a name and values; short rows end early or are padded with
// blanks or NA.
func readRows(path string) (rows []row, err error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewReader(file)
	in := io.Reader(buffered)
	if magic, short := buffered.Peek(2); short == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if in, err = gzip.NewReader(buffered); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	reader := csv.NewReader(in)
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, record := range records {
		if i == 0 {
			continue
		}
		values, err := parseValues(record[1:])
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
		rows = append(rows, row{id: record[0], values: values})
	}
	return rows, nil
}

// parseValues reads numbers; a blank or NA is a gap, and padding at the end of the row.
func parseValues(cells []string) ([]float64, error) {
	values := make([]float64, 0, len(cells))
	known := 0
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if cell == "" || cell == "NA" {
			values = append(values, math.NaN())
			continue
		}
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("value %d is %q, want a number, or nothing for a gap", i+1, cell)
		}
		values = append(values, v)
		known = len(values)
	}
	return values[:known], nil
}
