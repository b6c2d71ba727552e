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
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/recorded"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

// now is not on the minute: the range must be.
var now = time.Date(2026, 3, 1, 12, 0, 42, 0, time.UTC)

// read parses a command line and reads the history that it names.
func read(ctx context.Context, stdin io.Reader, args ...string) (recorded.History, error) {
	o := history.Defaults()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := errors.Join(flags.Parse(args), o.Validate()); err != nil {
		return recorded.History{}, err
	}
	return history.Read(ctx, &o, stdin, now, nil)
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
	want := recorded.History{
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
	const about = "load.csv, column a: 3 minutes from 2026-01-05 00:00 UTC, every minute, 2 values from 1 to 3, 1 gap"
	if got.Describe() != about {
		t.Errorf("%q, want %q", got.Describe(), about)
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
	if got.Describe() != "stdin, column b: 20 s counted from 0s, every 10 seconds, 2 values from 5 to 6" {
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

func TestPrometheusEndsWhereItIsTold(t *testing.T) {
	url := serve(t, &recordedtest.Prometheus{Demand: func(time.Time) float64 { return 1 }})
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
