package main

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/forecast/accuracy"
)

//go:embed score.R
var scoreScript string

// scoreR scores R's methods on the competition's files. Where R or its package forecast is missing it reports that.
func scoreR(o options, naive2 accuracy.Score, rows printer, words io.Writer) error {
	if why := withoutR(); why != "" {
		fmt.Fprintln(words, "R is left out:", why)
		return nil
	}
	fmt.Fprintln(words, "m4 R: this takes minutes")
	records, err := runR(scoreScript, o.train, o.test)
	if err != nil {
		return err
	}
	for _, record := range records {
		v, err := numbers(record[1:])
		if err != nil || len(v) != 7 {
			return fmt.Errorf("row of R %q: %w", record, err)
		}
		scored := m4Row{
			Set: "m4", Model: record[0], Series: int(v[0]), MASE: v[1], SMAPE: v[2], Coverage80: v[3], Coverage95: v[4],
			MSIS95: v[5], CPUSecondsPerSeries: v[6],
		}
		if scored.OWA, err = accuracy.OWA(accuracy.Score{MASE: v[1], SMAPE: v[2]}, naive2); err != nil {
			return err
		}
		if err := rows.m4(scored); err != nil {
			return err
		}
	}
	return nil
}

// withoutR is why R cannot be used; empty where it can.
func withoutR() string {
	path, err := exec.LookPath("Rscript")
	if err != nil {
		return "no Rscript on PATH (Debian: r-base-core, r-cran-forecast)"
	}
	cmd := exec.CommandContext(context.Background(), path, "-e", `quit(status = !requireNamespace("forecast"))`)
	if err := cmd.Run(); err != nil {
		return "Rscript has no package forecast (Debian: r-cran-forecast)"
	}
	return ""
}

// runR runs a script and reads the tab-separated rows that it prints.
func runR(script string, args ...string) (records [][]string, err error) {
	dir, err := os.MkdirTemp("", "benchforecast-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	path := filepath.Join(dir, "script.R")
	if err = os.WriteFile(path, []byte(script), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), "Rscript", append([]string{path}, args...)...)
	var words strings.Builder
	cmd.Stderr = &words
	printed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run Rscript: %w: %s", err, strings.TrimSpace(words.String()))
	}
	reader := csv.NewReader(strings.NewReader(string(printed)))
	reader.Comma = '\t'
	return reader.ReadAll()
}

func numbers(cells []string) ([]float64, error) {
	out := make([]float64, len(cells))
	for i, cell := range cells {
		var err error
		if out[i], err = strconv.ParseFloat(strings.TrimSpace(cell), 64); err != nil {
			return nil, err
		}
	}
	return out, nil
}
