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
)

// competitor is a series of the M4 competition.
type competitor struct {
	id            string
	train, actual []float64
}

// competitors reads a training file and the test file of the same series.
func competitors(trainPath, testPath string) ([]competitor, error) {
	train, err := readRows(trainPath)
	if err != nil {
		return nil, err
	}
	test, err := readRows(testPath)
	if err != nil {
		return nil, err
	}
	actual := make(map[string][]float64, len(test))
	for _, row := range test {
		actual[row.id] = row.values
	}
	out := make([]competitor, len(train))
	for i, row := range train {
		after, found := actual[row.id]
		if !found || len(after) == 0 || len(row.values) == 0 {
			return nil, fmt.Errorf("series %s: %d values in %s, %d in %s, want some in both",
				row.id, len(row.values), trainPath, len(after), testPath)
		}
		out[i] = competitor{id: row.id, train: row.values, actual: after}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no series", trainPath)
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
