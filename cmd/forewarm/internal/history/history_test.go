package history_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history/historytest"
	"github.com/forewarm/forewarm/forecast"
)

// now is not on the minute: the range must be.
var now = time.Date(2026, 3, 1, 12, 0, 42, 0, time.UTC)

// read parses a command line and reads the history that it names.
func read(ctx context.Context, stdin io.Reader, args ...string) (history.History, error) {
	o := history.Defaults()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := errors.Join(flags.Parse(args), o.Validate()); err != nil {
		return history.History{}, err
	}
	return o.Read(ctx, stdin, now, nil)
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const minutes = "t,a\n1767571200,1\n1767571260,\n1767571320,3\n"

func TestTrace(t *testing.T) {
	want := history.History{
		Series: forecast.Series{
			Start: time.Unix(1767571200, 0).UTC(), Step: time.Minute, Values: []float64{1, math.NaN(), 3},
		},
		Source: "load.csv, column a", Notes: []string{"1 of 3 values are gaps"},
	}
	got, err := read(t.Context(), nil, "--trace", file(t, minutes))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const about = "load.csv, column a: 3 minutes in steps of a minute, 2026-01-05 00:00 to 2026-01-05 00:03 UTC"
	if got.Describe() != about {
		t.Errorf("%q, want %q", got.Describe(), about)
	}
}

// A verdict wants a week between the first and the last value, half of it known.
func TestTooShort(t *testing.T) {
	for _, c := range []struct {
		hours, from, every int
		want               string
	}{
		{5, 0, 1, "Too short to judge: 5 hours, want a week."},
		{167, 0, 1, ""}, // A sample of the range's first hour may be missing.
		{336, 331, 1, "Too short to judge: 5 hours, want a week."},
		{200, 0, 2, ""},
		{200, 0, 4, "Too short to judge: 4.17 days, want a week."},
	} {
		h := history.History{Series: forecast.Series{Step: time.Hour}}
		for i := range c.hours {
			v := math.NaN()
			if i >= c.from && i%c.every == 0 {
				v = 1
			}
			h.Values = append(h.Values, v)
		}
		if got := h.TooShort(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A trace on stdin is read once, packed or not, and its times may count from 0.
func TestTraceOnStdin(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := io.WriteString(zip, "t,a,b\n0,1,5\n10,2,6\n"); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(t.Context(), &packed, "--trace", "-", "--column", "b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{5, 6}, got.Values); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Describe() != "stdin, column b: 20 s in steps of 10 s" {
		t.Error(got.Describe())
	}
}

func TestStdinThatNeverEndsCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("^C"))
	reader, writer := io.Pipe()
	t.Cleanup(func() { writer.Close() }) //nolint:errcheck // Of a pipe it never fails.
	if _, err := read(ctx, reader, "--trace", "-"); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v, want an interruption", err)
	}
}

func TestPipeThatNobodyWritesToCanBeInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pipe, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		pipe.Close() //nolint:errcheck // It let the reader go.
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, nil, "--trace", path); cmdline.ExitCode(err) != cmdline.Interrupted {
		t.Errorf("%v, want an interruption", err)
	}
}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// counting is a demand that is the minute since the range began.
func counting(at time.Time) float64 {
	return at.Sub(now.Truncate(time.Minute).Add(-48 * time.Hour)).Minutes()
}

func TestPrometheus(t *testing.T) {
	url := serve(t, &historytest.Prometheus{Demand: func(at time.Time) float64 {
		if v := counting(at); v != 7 {
			return v - 5 // Five are negative: one of them is 0, and one is missing.
		}
		return math.NaN()
	}})
	got, err := read(t.Context(), nil, "--prometheus", url, "--query", "sum(load)", "--range", "2d")
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != 2880 || got.Step != time.Minute || !got.TimeAt(got.Len()-1).Equal(now.Truncate(time.Minute)) {
		t.Errorf("%d steps of %s to %s", got.Len(), got.Step, got.End())
	}
	if last := got.Values[2879]; last != 2875 {
		t.Errorf("the last value is %v, want 2875", last)
	}
	notes := []string{
		"4 samples are negative: check the query for a subtraction or a delta(); Forewarm treats such samples as gaps",
		"5 of 2880 values are gaps",
	}
	if diff := cmp.Diff(notes, got.Notes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	about := "sum(load) at " + url + ": 2 days in steps of a minute, 2026-02-27 12:01 to 2026-03-01 12:01 UTC"
	if got.Describe() != about {
		t.Errorf("%q, want %q", got.Describe(), about)
	}
}

func TestPrometheusEndsWhereItIsTold(t *testing.T) {
	url := serve(t, &historytest.Prometheus{Demand: func(time.Time) float64 { return 1 }})
	got, err := read(t.Context(), nil, "--prometheus", url, "--query", "load", "--range", "1h", "--step", "5m",
		"--end", "2026-02-01T01:03:00+01:00")
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	if got.Len() != 12 || !got.TimeAt(11).Equal(want) {
		t.Errorf("%d steps to %s, want 12 to %s", got.Len(), got.TimeAt(got.Len()-1), want)
	}
}

func TestPrometheusIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	url := serve(t, &historytest.Prometheus{Demand: counting, Stalls: 2})
	_, err := read(ctx, nil, "--prometheus", url, "--query", "load", "--range", "5d")
	if err == nil || !strings.Contains(err.Error(), "interrupted after reading 2 days of 5 days of history") {
		t.Errorf("%v, want that it was interrupted, and where", err)
	}
}
