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
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// The parameters of the backtests on traces.
const (
	refit   = 6 * time.Hour
	history = 14 * 24 * time.Hour
	level   = 0.95
)

// served are the horizons that are scored, in steps.
func served() []int { return []int{1, 5, 10, 15} }

// traceRow is a model's score on a trace at a horizon.
type traceRow struct {
	Set           string `json:"set"`
	Model         string `json:"model,omitempty"`
	Name          string `json:"name"`
	Horizon       int    `json:"horizon"`
	MAERatioLast  figure `json:"mae_ratio_last"`
	P95RatioMax5  figure `json:"p95_ratio_max5"`
	P95RatioMax15 figure `json:"p95_ratio_max15"`
	P95Coverage   figure `json:"p95_coverage"`

	// peak has the last three for the window peak, the maximum of the values up to the horizon.
	peak [3]figure
	step time.Duration
}

// scoreOnline scores every model on every trace by rolling origin.
func scoreOnline(all []demandtest.Recorded, o options, rows printer, words io.Writer) error {
	for _, model := range o.models {
		for i, one := range all {
			scored, err := scoreTrace(one, model)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", model.name, one.Name, err)
			}
			for _, row := range scored {
				if err := rows.trace(row); err != nil {
					return err
				}
			}
			progress(words, online+" "+model.name, i+1, len(all))
		}
		if err := rows.tracesEnd(model.name); err != nil {
			return err
		}
	}
	return nil
}

// scoreTrace backtests a model and the baselines on a trace.
func scoreTrace(r demandtest.Recorded, model entry) ([]traceRow, error) {
	steps := func(d time.Duration) int { return max(int(d/r.Series.Step), 1) }
	aDay := steps(24 * time.Hour)
	o := backtest.Options{
		Horizons: served(), Quantiles: []float64{level},
		First: min(aDay, r.Series.Len()/4), Refit: steps(refit), Window: steps(history),
	}
	made := model.make(task{
		season: aDay, seasons: []int{aDay, steps(7 * 24 * time.Hour)},
		horizon: 15, served: o.Horizons, history: o.First,
	})
	var results [2]backtest.Result
	for i, m := range []forecast.Model{made, naive.Last{}} {
		var err error
		if results[i], err = backtest.Run(r.Series, o, m); err != nil {
			return nil, err
		}
	}
	rows := make([]traceRow, len(o.Horizons))
	highest5, highest15 := highest(r.Series.Values, 5)[o.First-1:], highest(r.Series.Values, 15)[o.First-1:]
	for i, h := range o.Horizons {
		own, last := results[0].Score(i), results[1].Score(i)
		max5, max15 := asQuantile(results[0].Tracks[i], highest5), asQuantile(results[0].Tracks[i], highest15)
		rows[i] = traceRow{
			Set: "trace", Model: rowModel(model.name), Name: r.Name, Horizon: h,
			MAERatioLast:  figure(own.MAE / last.MAE),
			P95RatioMax5:  figure(own.Quantiles[0].Pinball) / max5[0],
			P95RatioMax15: figure(own.Quantiles[0].Pinball) / max15[0],
			P95Coverage:   figure(own.Quantiles[0].Coverage),
			step:          r.Series.Step,
			peak: [3]figure{
				figure(own.Peaks[0].Pinball) / max5[1], figure(own.Peaks[0].Pinball) / max15[1],
				figure(own.Peaks[0].Coverage),
			},
		}
	}
	return rows, nil
}

// highest is the maximum of the last few values up to each step; the one before where all of them are missing.
func highest(values []float64, window int) []float64 {
	out, newest := make([]float64, len(values)), series.NewTrailingMax(window)
	for i, v := range values {
		if out[i] = newest.Push(v); i > 0 && math.IsNaN(out[i]) {
			out[i] = out[i-1]
		}
	}
	return out
}

// asQuantile are the pinball losses, of a track's values and of its window peaks, of the values known at each origin in
// the place of the quantile, as people use the maximum of the last minutes.
func asQuantile(t backtest.Track, known []float64) [2]figure {
	known = known[:len(t.Actual)]
	return [2]figure{
		orNull(accuracy.Pinball(t.Actual, known, level)), orNull(accuracy.Pinball(t.Peak, known, level)),
	}
}

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
