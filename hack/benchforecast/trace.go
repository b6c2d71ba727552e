package main

import (
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
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// windowSets returns the sets for a folder of traces: each file at its own step and at multiples of it, with the short and the medium
// horizon of GIFT-Eval.
func windowSets(all []demandtest.Recorded) (sets []set) {
	for begin, end := 0, 0; begin < len(all); begin = end {
		for end < len(all) && all[end].File == all[begin].File {
			end++
		}
		columns, own := all[begin:end], all[begin].Series.Step
		steps := []time.Duration{own, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour}
		for i, step := range steps {
			if i == 0 || step > own && step%own == 0 {
				sets = append(sets, windowSet(columns, step, 1), windowSet(columns, step, 10))
			}
		}
	}
	return sets
}

// windowSet returns the windows of a file's columns. All columns have as many windows as the shortest one, and none if its history is
// shorter than the horizon.
func windowSet(columns []demandtest.Recorded, step time.Duration, terms int) set {
	cycle, out := day, set{kind: "windows", step: step, season: 1, horizon: 48 * terms}
	if step < time.Minute {
		cycle, out.horizon = time.Hour, 60*terms
	}
	if cycle%step == 0 {
		out.season = int(cycle / step)
	}
	out.name = fmt.Sprintf("%s %s h=%d", columns[0].File, humanize.Span(step), out.horizon)
	coarse, shortest := make([]forecast.Series, len(columns)), math.MaxInt
	for i, c := range columns {
		coarse[i] = means(c.Series, int(step/c.Series.Step))
		shortest = min(shortest, coarse[i].Len())
	}
	n := min(max(1, int(math.Ceil(0.1*float64(shortest)/float64(out.horizon)))), 20) // As in GIFT-Eval.
	if shortest < (n+1)*out.horizon {
		return out
	}
	for i, s := range coarse {
		for k := n; k > 0; k-- {
			origin := s.Len() - k*out.horizon
			id, actual := fmt.Sprintf("%s at %d", columns[i].Name, origin), s.Values[origin:origin+out.horizon]
			out.windows = append(out.windows, window{id, s.Slice(0, origin), actual})
		}
	}
	return out
}

// means returns the mean of the observed values in each group of steps. It drops an incomplete group at the end.
func means(s forecast.Series, every int) forecast.Series {
	out := forecast.Series{Start: s.Start, Step: s.Step * time.Duration(every), Values: make([]float64, s.Len()/every)}
	for i := range out.Values {
		sum, known := 0.0, 0.0
		for _, v := range s.Values[i*every : (i+1)*every] {
			if !math.IsNaN(v) {
				sum += v
				known++
			}
		}
		out.Values[i] = sum / known // NaN if no value is known.
	}
	return out
}

// m4Sets returns the only set in the files of the M4 competition, with one window for each series.
func m4Sets(trainPath, testPath string) ([]set, error) {
	ids, train, err := readRows(trainPath)
	if err != nil {
		return nil, err
	}
	_, test, err := readRows(testPath)
	if err != nil {
		return nil, err
	}
	out := set{kind: "m4", name: "M4 hourly", step: time.Hour, season: 24}
	for _, id := range ids {
		past, actual := train[id], test[id]
		if len(past) == 0 || len(actual) == 0 {
			return nil, fmt.Errorf("series %s: %d values in %s, %d in %s, want some in both",
				id, len(past), trainPath, len(actual), testPath)
		}
		out.horizon = max(out.horizon, len(actual))
		s := forecast.Series{Start: time.Unix(0, 0), Step: out.step, Values: past}
		out.windows = append(out.windows, window{id, s, actual})
	}
	return []set{out}, nil
}

// readRows reads a file with a header and a series in each row: its name, then its values. Rows may differ in length.
func readRows(path string) (ids []string, values map[string][]float64, err error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in := io.Reader(file)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	reader := csv.NewReader(in)
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	values = map[string][]float64{}
	for i, record := range records[min(1, len(records)):] {
		ids = append(ids, record[0])
		if values[record[0]], err = parseValues(record[1:]); err != nil {
			return nil, nil, fmt.Errorf("%s: row %d: %w", path, i+2, err)
		}
	}
	return ids, values, nil
}

// parseValues reads numbers. A blank or NA is a gap, or padding if no number follows it.
func parseValues(cells []string) ([]float64, error) {
	values, known := make([]float64, len(cells)), 0
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if cell == "" || cell == "NA" {
			values[i] = math.NaN()
			continue
		}
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || !humanize.Known(v) {
			return nil, fmt.Errorf("value %d is %q, want a number, or nothing for a gap", i+1, cell)
		}
		values[i], known = v, i+1
	}
	return values[:known], nil
}

// onlineRow is a model's score on a trace at a horizon.
type onlineRow struct {
	Set          string `json:"set"`
	Model        method `json:"model,omitzero"`
	Name         string `json:"name"`
	Horizon      int    `json:"horizon"`
	MAERatioLast figure `json:"mae_ratio_last"`
	P95RatioMax5 figure `json:"p95_ratio_max5"`
	P95Coverage  figure `json:"p95_coverage"`
}

func (r onlineRow) table() (heading, line string) {
	return fmt.Sprintf("%-51s %3s %8s %8s %8s", "traces, "+r.Model, "h", "MAE/last", "P95/max5", "coverage"),
		fmt.Sprintf("%-51s %3d %8.3f %8.3f %8.3f", r.Name, r.Horizon, r.MAERatioLast, r.P95RatioMax5, r.P95Coverage)
}

// scoreOnline scores every model on every trace with a rolling origin.
func (b *bench) scoreOnline(traces []demandtest.Recorded) error {
	for _, model := range b.models {
		for i, trace := range traces {
			if err := b.scoreTrace(trace, model); err != nil {
				return fmt.Errorf("%s on %s: %w", model, trace.Name, err)
			}
			b.progress(online, model, i+1, len(traces))
		}
	}
	return nil
}

// scoreTrace backtests a model and the last value on a trace.
func (b *bench) scoreTrace(r demandtest.Recorded, name string) error {
	live := set{step: r.Series.Step, horizon: 15}
	live.season = live.steps(day)
	o := backtest.Options{
		Horizons: []int{1, 5, 10, live.horizon}, Quantiles: []float64{0.95},
		First: min(live.season, r.Series.Len()/4), Refit: live.steps(6 * time.Hour), Window: live.steps(14 * day),
	}
	result, err := backtest.Run(r.Series, o, live.models(o.First)[name])
	if err != nil {
		return err
	}
	last, err := backtest.Run(r.Series, o, naive.Last{})
	if err != nil {
		return err
	}
	max5 := make([]float64, result.Origins)
	for i := range max5 {
		max5[i] = series.MaxKnown(r.Series.Values[max(o.First+i-5, 0) : o.First+i]...)
	}
	for i, h := range o.Horizons {
		score, lossOfMax := result.Score(i), orUndefined(accuracy.Pinball(result.Tracks[i].Actual, max5, 0.95))
		p95 := score.Quantiles[0]
		row := onlineRow{Set: "trace", Model: method(name), Name: r.Name, Horizon: h}
		row.MAERatioLast = figure(score.MAE / last.Score(i).MAE)
		row.P95RatioMax5, row.P95Coverage = figure(p95.Pinball)/lossOfMax, figure(p95.Coverage)
		if err := b.print(row); err != nil {
			return err
		}
	}
	return nil
}
