package arima_test

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// hourly are some of the M4 competition's hourly series (Makridakis, Spiliotis & Assimakopoulos 2020), from the folder that
// FOREWARM_DATA names.
func hourly(tb testing.TB, every int) [][]float64 {
	tb.Helper()
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		tb.Skip("FOREWARM_DATA is unset: it names the folder with m4/hourly_even_train.csv.gz")
	}
	file, err := os.Open(filepath.Join(dir, "m4", "hourly_even_train.csv.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // Read only.
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	reader := csv.NewReader(unzipped)
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var out [][]float64
	for i, row := range rows[1:] {
		if i%every != every-1 {
			continue
		}
		var values []float64
		for _, cell := range row {
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				values = append(values, v)
			}
		}
		out = append(out, values)
	}
	return out
}
