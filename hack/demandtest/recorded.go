package demandtest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// Recorded is a value column of a trace's file.
type Recorded struct {
	// File is the name of the file without its extension; Name has the column's after it where there are several.
	File, Name string
	Series     forecast.Series
}

// Read reads every value column of every CSV file in a folder, compressed or not, in the order of their names (format: package
// [trace]).
func Read(folder string) ([]Recorded, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []Recorded
	for _, file := range files {
		name, isCSV := strings.CutSuffix(strings.TrimSuffix(file.Name(), ".gz"), ".csv")
		if !isCSV {
			continue
		}
		path := filepath.Join(folder, file.Name())
		columns, err := trace.FileColumns(path)
		if err != nil {
			return nil, err
		}
		for _, column := range columns {
			s, err := trace.ReadFile(path, column)
			if err != nil {
				return nil, err
			}
			r := Recorded{File: name, Name: name, Series: s}
			if len(columns) > 1 {
				r.Name += "/" + column
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no .csv or .csv.gz file", folder)
	}
	return out, nil
}

// Scale scales a demand in place, to a mean of what is known of it.
func Scale(s forecast.Series, mean float64) error {
	sum, n := 0.0, 0
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if !(sum > 0) {
		return fmt.Errorf("the values add up to %v, want more than 0", sum)
	}
	for i := range s.Values {
		s.Values[i] *= mean * float64(n) / sum
	}
	return nil
}
