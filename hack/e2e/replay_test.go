package e2e_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// recording is a trace that the scenarios replay.
type recording struct{ forecast.Series }

// openRecording reads a real trace if FOREWARM_DATA is set, else the project's own. In this real trace the largest
// rise is not the end of an outage, which no model can forecast.
func openRecording(t *testing.T) recording {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "traces", "requests_14d.csv.gz")
	if data := os.Getenv("FOREWARM_DATA"); data != "" {
		path = filepath.Join(data, "traces", "worldcup98_requests_per_minute_first_60000.csv.gz")
	}
	columns, err := trace.FileColumns(path)
	if err != nil {
		t.Fatal(err)
	}
	column := columns[0]
	series, err := trace.ReadFile(path, column)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("trace: %s, column %s, %d steps of %s", filepath.Base(path), column, len(series.Values), series.Step)
	return recording{series}
}

// largestRise returns the index at which, in the last day, the mean over five minutes rises most within ten.
func (r recording) largestRise() int {
	minutes := func(n int) int { return int(time.Duration(n) * time.Minute / r.Step) }
	mean := func(from int) float64 {
		sum := 0.0
		for _, v := range r.Values[from : from+minutes(5)] {
			sum += v
		}
		return sum / float64(minutes(5))
	}
	best, at := math.Inf(-1), 0
	for i := len(r.Values) - minutes(24*60); i+minutes(45) < len(r.Values); i++ {
		if rise := mean(i+minutes(10)) - mean(i); rise > best {
			best, at = rise, i
		}
	}
	return at
}

// at returns the demand at a position in steps, interpolated.
func (r recording) at(position float64) float64 {
	i := min(max(int(position), 0), len(r.Values)-2)
	share := min(position-float64(i), 1)
	return r.Values[i]*(1-share) + r.Values[i+1]*share
}

// writePast writes a history of the demand, which ends now, into the data of a Prometheus that is not started yet.
func (s *stage) writePast(t *testing.T, key workloadKey, step time.Duration, values []float64) {
	t.Helper()
	s.writeSeries(t, step,
		map[string][]float64{fmt.Sprintf("inflight{namespace=%q,app=%q}", key.namespace, key.name): values})
}

// writeSeries writes the history of any series that the demand exposes, as writePast does.
func (s *stage) writeSeries(t *testing.T, step time.Duration, series map[string][]float64) {
	t.Helper()
	s.writeSeriesUntil(t, time.Now(), step, series)
}

// writeSeriesUntil writes series that end at a time, which may be ahead.
func (s *stage) writeSeriesUntil(t *testing.T, end time.Time, step time.Duration, series map[string][]float64) {
	t.Helper()
	whole, longest := map[string][]float64{}, 0
	for _, values := range series {
		longest = max(longest, len(values))
	}
	for name, values := range series {
		name = strings.Replace(name, "{", fmt.Sprintf("{job=\"demand\",instance=%q,", s.demand.address), 1)
		whole[name] = slices.Concat(slices.Repeat([]float64{math.NaN()}, longest-len(values)), values)
	}
	if err := s.WriteSeries(t.Context(), end.Add(-time.Duration(longest)*step), step, whole); err != nil {
		t.Fatal(err)
	}
}

// replay sets the demand along a course, and calls tick at every step.
func (s *stage) replay(t *testing.T, course func(time.Duration) float64, length time.Duration,
	tick func(elapsed time.Duration, demand float64),
) {
	t.Helper()
	start := time.Now()
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		elapsed := time.Since(start)
		if elapsed > length {
			return
		}
		value := course(elapsed)
		s.demand.set("rise", "demand", value)
		tick(elapsed, value)
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}
