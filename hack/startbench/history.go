package main

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// metric is the name of the series; they differ by the label model.
const metric = "demand"

// ahead is how far the history reaches beyond the start.
const ahead = 3 * time.Hour

// writeHistory writes the storage that Prometheus opens: forewarm's embedded engine has the same format.
func writeHistory(ctx context.Context, dir string, o options) error {
	now := time.Now().Truncate(time.Minute)
	start := now.Add(-time.Duration(o.days) * 24 * time.Hour)
	engine, err := embedded.Open(embedded.Config{Dir: dir}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	// It reaches ahead: nobody scrapes here, and the start of many takes most of an hour.
	end := now.Add(ahead)
	err = engine.Backfill(ctx, embedded.BackfillData{Series: histories(start, end, o.forecasts), Before: end})
	if closed := engine.Close(); err == nil {
		err = closed
	}
	return err
}

func histories(start, end time.Time, n int) iter.Seq[embedded.BackfillSeries] {
	return func(yield func(embedded.BackfillSeries) bool) {
		for i := range n {
			labels := map[string]string{"__name__": metric, "model": strconv.Itoa(i)}
			if !yield(embedded.BackfillSeries{Labels: labels, Series: demand(start, end, uint64(i))}) {
				return
			}
		}
	}
}

// demand is a daily cycle with bursts and counting noise, by its seed.
func demand(start, end time.Time, seed uint64) forecast.Series {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := forecast.Series{Start: start, Step: time.Minute}
	level, burst := 20+200*rng.Float64(), 0.0
	for i := range int(end.Sub(start) / time.Minute) {
		burst *= 0.93
		if rng.Float64() < 0.001 {
			burst += level * rng.ExpFloat64()
		}
		mean := level*(1+0.5*math.Sin(2*math.Pi*float64(i)/1440)) + burst
		s.Values = append(s.Values, math.Max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	return s
}

// goals are the goals of Forecasts in turn, as YAML of their specs.
func goals() map[string][]string {
	const quantile, objective = `quantile: "0.95"`,
		"objective: {late: \"1%\"}\n  scaling: {target: \"10\", minReplicas: 1, maxReplicas: 100}"
	return map[string][]string{"quantile": {quantile}, "objective": {objective}, "mixed": {quantile, objective}}
}

// namespace is the name of the i-th namespace.
func namespace(i int) string { return fmt.Sprintf("bench-%d", i) }

// perFile is how many Forecasts a file has: larger ones than a megabyte are refused.
const perFile = 1000

// writeForecasts writes files with a Forecast for each series, and returns their folder.
func writeForecasts(dir string, o options, ask string) (string, error) {
	dir = filepath.Join(dir, "forecasts-"+ask)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	for first := 0; first < o.forecasts; first += perFile {
		var out strings.Builder
		for i := first; i < min(first+perFile, o.forecasts); i++ {
			fmt.Fprintf(&out, `---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: model-%d, namespace: %s}
spec:
  targetRef: {kind: Deployment, name: model-%d}
  signal: {query: 'sum(%s{model="%d"})'}
  %s
  history: %dd
  step: 1m
  leadTime: {mode: Fixed, duration: 5m}
`, i, namespace(i*o.namespaces/o.forecasts), i, metric, i, goals()[ask][i%len(goals()[ask])], o.days)
		}
		file := filepath.Join(dir, fmt.Sprintf("forecasts-%d.yaml", first/perFile))
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}
