package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

//go:embed speed.R
var speedScript string

// speedOfR times R's fits of the same series.
func speedOfR(seasonal []forecast.Series, plain forecast.Series) (map[string]time.Duration, error) {
	dir, err := os.MkdirTemp("", "benchforecast-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	many, one := filepath.Join(dir, "seasonal.csv"), filepath.Join(dir, "plain.csv")
	if len(seasonal) == 0 {
		return map[string]time.Duration{}, nil
	}
	if err = writeSeries(many, seasonal...); err != nil {
		return nil, err
	}
	if err = writeSeries(one, plain); err != nil {
		return nil, err
	}
	records, err := runR(speedScript, many, one)
	if err != nil {
		return nil, err
	}
	out := make(map[string]time.Duration, len(records))
	for _, record := range records {
		v, err := numbers(record[1:])
		if err != nil || len(v) != 1 {
			return nil, fmt.Errorf("row of R %q: %w", record, err)
		}
		out[record[0]] = time.Duration(v[0] * float64(time.Second))
	}
	return out, nil
}

func writeSeries(path string, all ...forecast.Series) error {
	var text strings.Builder
	for _, s := range all {
		for i, v := range s.Values {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		text.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}
