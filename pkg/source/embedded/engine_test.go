package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(scraperEnv); file != "" {
		if err := scraper(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// A storage that panics because it cannot write chunks cannot be closed whole; it leaves its log's goroutine.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/prometheus/prometheus/tsdb/wlog.(*WL).run"))
}

var origin = time.Unix(1_700_000_000, 0).UTC().Truncate(time.Hour)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func open(tb testing.TB, cfg embedded.Config) *embedded.Engine {
	tb.Helper()
	if cfg.Dir == "" {
		cfg.Dir = tb.TempDir()
	}
	e, err := embedded.Open(cfg, discard())
	if err != nil {
		tb.Fatal(err)
	}
	closeAfter(tb, e)
	return e
}

// closeAfter closes the engine after the test; one that closes it itself has looked at the error.
func closeAfter(tb testing.TB, e *embedded.Engine) {
	tb.Helper()
	tb.Cleanup(func() { e.Close() }) //nolint:errcheck // See above.
}

func reopen(t *testing.T, e *embedded.Engine, cfg embedded.Config) *embedded.Engine {
	t.Helper()
	must(t, e.Close())
	return open(t, cfg)
}

// backfillSeries is a series x from origin on.
func backfillSeries(step time.Duration, values ...float64) embedded.BackfillSeries {
	return embedded.BackfillSeries{
		Labels: map[string]string{"__name__": "x", "job": "test"},
		Series: forecast.Series{Start: origin, Step: step, Values: values},
	}
}

func rising(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

func backfill(tb testing.TB, e *embedded.Engine, all ...embedded.BackfillSeries) {
	tb.Helper()
	b := embedded.BackfillData{Series: slices.Values(all), Before: time.Now()}
	must(tb, e.Backfill(tb.Context(), b))
}

func queryOver(expr string, points int, step time.Duration) refresh.Query {
	return refresh.Query{Expr: expr, From: origin, To: origin.Add(time.Duration(points-1) * step), Step: step}
}

func fetch(t *testing.T, e *embedded.Engine, q refresh.Query) []float64 {
	t.Helper()
	got, err := e.Fetch(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Start.Equal(q.From) || got.Step != q.Step || got.Len() != q.Points() {
		t.Fatalf("answer from %v by %v, %d points; asked from %v by %v, %d", got.Start, got.Step, got.Len(), q.From,
			q.Step, q.Points())
	}
	return got.Values
}

func equal(t *testing.T, want, got []float64) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// Twenty days of minutes come back, also after a restart, and their gaps are gaps.
func TestBackfillReadsBack(t *testing.T) {
	values := rising(20 * 1440)
	for i := 7000; i < 7500; i++ {
		values[i] = math.NaN()
	}
	cfg := embedded.Config{Dir: t.TempDir()}
	e := open(t, cfg)
	progress := []int{}
	err := e.Backfill(t.Context(), embedded.BackfillData{
		Series: slices.Values([]embedded.BackfillSeries{backfillSeries(time.Minute, values...)}), Before: time.Now(),
		Progress: func(done, total int) {
			if total != len(values) {
				t.Errorf("progress of %d, want %d", total, len(values))
			}
			progress = append(progress, done)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(progress); n < 5 || progress[n-1] != len(values) || !slices.IsSorted(progress) {
		t.Errorf("progress %v", progress)
	}
	q := queryOver("sum(x)", len(values), time.Minute)
	equal(t, values, fetch(t, e, q))
	e = reopen(t, e, cfg)
	equal(t, values, fetch(t, e, q))
}

// What is appended continues what was backfilled, and NaN ends a series at once, not after the lookback.
func TestFetchByLabel(t *testing.T) {
	e := open(t, embedded.Config{})
	other := backfillSeries(time.Minute, 5, 6, 7)
	other.Labels = map[string]string{"__name__": "x", "job": "other"}
	backfill(t, e, backfillSeries(time.Minute, 1, 2, 3), other)
	for expr, want := range map[string]map[string]float64{"x": {"test": 3, "other": 7}, "sum(x)": {"": 10}, "y": {}, "x + on () x": nil} {
		got, err := e.FetchByLabel(t.Context(), queryOver(expr, 3, time.Minute), "job")
		if diff := cmp.Diff(want, got); (err != nil) != (want == nil) || want != nil && diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", expr, err, diff)
		}
	}
}

func TestAppendContinuesABackfill(t *testing.T) {
	e := open(t, embedded.Config{})
	past := backfillSeries(10*time.Second, 1, 2, 3)
	backfill(t, e, past)
	for i, v := range []float64{4, 5, math.NaN(), math.NaN(), 6} {
		must(t, e.Append(t.Context(), past.Labels, origin.Add(time.Duration(3+i)*10*time.Second), v))
	}
	equal(t, []float64{1, 2, 3, 4, 5, math.NaN(), math.NaN(), 6},
		fetch(t, e, queryOver(`x{job="test"}`, 8, 10*time.Second)))
	if err := e.Append(t.Context(), past.Labels, origin.Add(time.Minute), 7); err == nil {
		t.Error("a sample before the newest one is stored")
	}
}

// A gap begins with its first missing step, whatever the lookback. That is a minute where nothing else is said: what ended is a gap
// soon.
func TestGapsAndTheLookback(t *testing.T) {
	nan := math.NaN()
	e := open(t, embedded.Config{Lookback: 5 * time.Minute})
	backfill(t, e, backfillSeries(time.Minute, 1, 2, nan, nan, 5))
	equal(t, []float64{1, 1, 2, 2, nan, nan, nan, nan, 5, 5}, fetch(t, e, queryOver("x", 10, 30*time.Second)))
	e = open(t, embedded.Config{})
	backfill(t, e, backfillSeries(time.Minute, 1, 2))
	equal(t, []float64{1, 1, 2, 2, nan, nan}, fetch(t, e, queryOver("x", 6, 30*time.Second)))
}

// A counter that restarts gives a rate that is never negative.
func TestCounterReset(t *testing.T) {
	e := open(t, embedded.Config{})
	backfill(t, e, backfillSeries(15*time.Second, 0, 15, 30, 45, 60, 5, 20, 35, 50, 65, 80, 95))
	for i, v := range fetch(t, e, queryOver("rate(x[1m])", 12, 15*time.Second)) {
		if v < 0 || v > 2 {
			t.Errorf("rate at step %d is %v", i, v)
		}
	}
}

func TestBackfillRefusesOverlap(t *testing.T) {
	cfg := embedded.Config{Dir: t.TempDir()}
	e := open(t, cfg)
	backfill(t, e, backfillSeries(time.Minute, rising(100)...))
	again := embedded.BackfillData{
		Series: slices.Values([]embedded.BackfillSeries{backfillSeries(time.Minute, 7, 7, 7)}),
		Before: time.Now(),
	}
	err := e.Backfill(t.Context(), again)
	if !errors.Is(err, embedded.ErrOverlap) || !strings.Contains(err.Error(), "empty directory") {
		t.Errorf("error %v, want ErrOverlap", err)
	}
	equal(t, rising(100), fetch(t, e, queryOver("x", 100, time.Minute)))
	later := backfillSeries(time.Minute, 8, 9)
	later.Series.Start = origin.Add(100 * time.Minute)
	backfill(t, e, later)
	equal(t, append(rising(100), 8, 9), fetch(t, e, queryOver("x", 102, time.Minute)))
	earlier := backfillSeries(time.Minute, 6)
	earlier.Series.Start = origin.Add(-time.Minute)
	backfill(t, e, earlier)
	equal(t, append(rising(100), 8, 9), fetch(t, e, queryOver("x", 102, time.Minute)))
}

func TestBackfillRefusesNonsense(t *testing.T) {
	e := open(t, embedded.Config{})
	future := backfillSeries(time.Minute, 1)
	future.Series.Start = time.Now().Add(time.Hour)
	noName, badLabel, noStep := backfillSeries(time.Minute, 1), backfillSeries(time.Minute, 1), backfillSeries(0, 1)
	noName.Labels = map[string]string{"a": "b"}
	badLabel.Labels = map[string]string{"__name__": "x", "": "b"}
	for says, p := range map[string]embedded.BackfillSeries{
		"not before": future, "expected a metric name": noName, "not valid": badLabel, "a step of 0s": noStep,
	} {
		err := e.Backfill(t.Context(),
			embedded.BackfillData{Series: slices.Values([]embedded.BackfillSeries{p}), Before: time.Now()})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	if err := e.Backfill(t.Context(),
		embedded.BackfillData{Series: slices.Values([]embedded.BackfillSeries{})}); err != nil {
		t.Errorf("nothing to backfill: %v", err)
	}
}

// A backfill that is cut short leaves nothing, and the next one works.
func TestBackfillCancelled(t *testing.T) {
	dir := t.TempDir()
	e := open(t, embedded.Config{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	b := embedded.BackfillData{
		Series:   slices.Values([]embedded.BackfillSeries{backfillSeries(time.Minute, rising(20*1440)...)}),
		Before:   time.Now(),
		Progress: func(int, int) { cancel() },
	}
	if err := e.Backfill(ctx, b); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want that it was cancelled", err)
	}
	if _, err := e.Fetch(t.Context(), queryOver("x", 10, time.Minute)); !errors.Is(err, series.ErrNoSeries) {
		t.Errorf("error %v, want ErrNone", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "backfill")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the staging directory is there: %v", err)
	}
	backfill(t, e, backfillSeries(time.Minute, rising(10)...))
	equal(t, rising(10), fetch(t, e, queryOver("x", 10, time.Minute)))
}

func TestRetention(t *testing.T) {
	e := open(t, embedded.Config{Retention: 72 * time.Hour})
	backfill(t, e, backfillSeries(time.Minute, rising(10*1440)...))
	got := fetch(t, e, queryOver("x", 10*1440, time.Minute))
	if !math.IsNaN(got[6*1440]) || math.IsNaN(got[8*1440]) {
		t.Errorf("after six days %v, after eight %v; want only the latter", got[6*1440], got[8*1440])
	}
	if h := e.Health(); h.To.Sub(h.From) > 80*time.Hour {
		t.Errorf("%v are kept, want about 72h", h.To.Sub(h.From))
	}
}

func TestRetentionBySize(t *testing.T) {
	e := open(t, embedded.Config{MaxBytes: 120_000})
	noise := rising(20 * 1440)
	for i := range noise {
		noise[i] = math.Sin(float64(i * i))
	}
	backfill(t, e, backfillSeries(time.Minute, noise...))
	got, err := e.Fetch(t.Context(), queryOver("x", len(noise), time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Observed(); n == 0 || n == len(noise) {
		t.Errorf("%d of %d samples are kept, want some", n, len(noise))
	}
}

func TestTwoProcessesOnOneDirectory(t *testing.T) {
	dir := t.TempDir()
	open(t, embedded.Config{Dir: dir})
	_, err := embedded.Open(embedded.Config{Dir: dir}, discard())
	if err == nil || !strings.Contains(err.Error(), "in use by another process") ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want that the directory is in use", err)
	}
}

func TestConfigReportsEveryProblem(t *testing.T) {
	_, err := embedded.Open(embedded.Config{Retention: time.Minute, MaxPoints: -1}, discard())
	for _, want := range []string{"data directory is not set", "a retention of 1m0s", "negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestFetchErrors(t *testing.T) {
	e := open(t, embedded.Config{MaxSamples: 5000, MaxPoints: 100_000})
	two := backfillSeries(time.Minute, rising(10)...)
	two.Labels = map[string]string{"__name__": "x", "job": "other"}
	backfill(t, e, backfillSeries(time.Minute, rising(10)...), two)
	backward := queryOver("x", 10, time.Minute)
	backward.To = backward.From.Add(-time.Minute)
	tests := []struct {
		name string
		q    refresh.Query
		want error
		says string
	}{
		{"no series", queryOver("y", 10, time.Minute), series.ErrNoSeries, "with these labels: y"},
		{"two series", queryOver("x", 10, time.Minute), series.ErrSeveralSeries, `job="other"`},
		{"no PromQL", queryOver("sum(", 10, time.Minute), series.ErrQuery, "parse error"},
		{"a range vector", queryOver("x[5m]", 10, time.Minute), series.ErrQuery, "range vector"},
		{"a match that is not one to one", queryOver("x + on () x", 10, time.Minute), series.ErrQuery, "match"},
		{"a function that is not known", queryOver("info(x)", 10, time.Minute), series.ErrQuery, "info"},
		{"a look into the future", queryOver("sum(x offset -5m)", 10, time.Minute), series.ErrQuery, "negative offset"},
		{"no step", queryOver("sum(x)", 10, 0), series.ErrQuery, "step"},
		{"backward", backward, series.ErrQuery, "before its start"},
		{"too many points", queryOver("sum(x)", 100_001, time.Second), series.ErrTooLarge, "100001 points"},
		{"too many samples", queryOver("vector(1)", 60_000, time.Second), series.ErrTooLarge, "too many samples"},
	}
	for _, tt := range tests {
		_, err := e.Fetch(t.Context(), tt.q)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %v that says %q", tt.name, err, tt.want, tt.says)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Fetch(cancelled, queryOver("sum(x)", 10, time.Minute)); !errors.Is(err, series.ErrUnavailable) {
		t.Errorf("cancelled: error %v, want ErrUnavailable", err)
	}
}

func TestFetchTimeout(t *testing.T) {
	e := open(t, embedded.Config{QueryTimeout: time.Nanosecond})
	backfill(t, e, backfillSeries(time.Minute, rising(10)...))
	if _, err := e.Fetch(t.Context(), queryOver("x", 10, time.Minute)); !errors.Is(err, series.ErrUnavailable) ||
		!strings.Contains(err.Error(), "timed out") {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

// must ends the test on an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
