package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// The text is compared, and not the compressed bytes: those may change with the version of Go.
func TestCommittedTracesAreWhatTheGeneratorMakes(t *testing.T) {
	for _, tr := range traces() {
		t.Run(tr.file, func(t *testing.T) {
			committed, err := os.ReadFile(filepath.Join("..", "..", "testdata", "traces", tr.file))
			if err != nil {
				t.Fatal(err)
			}
			const largest = 200_000
			if len(committed) > largest {
				t.Errorf("%d bytes, want at most %d", len(committed), largest)
			}
			s, err := tr.series()
			if err != nil {
				t.Fatal(err)
			}
			made, err := encode(tr.column, tr.digits, s)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(unzip(t, committed), unzip(t, made)) {
				t.Errorf("testdata/traces/%s is not what the generator makes, run: go run ./hack/tracegen", tr.file)
			}
		})
	}
}

// The rows of doc.go, next to those of real traces, are what the traces have. It logs them, and those of the files that the
// arguments name.
func TestTracesLookLikeRealOnes(t *testing.T) {
	table, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range traces() {
		name, _, _ := strings.Cut(tr.file, ".")
		s, err := tr.series()
		if err != nil {
			t.Fatal(err)
		}
		row := measure(s).row(name)
		t.Log("\n" + row)
		if !tr.plain && !strings.Contains(string(table), "//\t"+row+"\n") {
			t.Errorf("doc.go does not have the row\n%s", row)
		}
	}
	for _, file := range flag.Args() {
		t.Log("\n" + measure(readTrace(t, file)).row(filepath.Base(file)))
	}
}

// readTrace reads the first value column of a file.
func readTrace(t *testing.T, path string) forecast.Series {
	t.Helper()
	columns, err := trace.FileColumns(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := trace.ReadFile(path, columns[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	s := forecast.Series{
		Start: time.Unix(1_700_000_040, 0).UTC(), Step: time.Minute, Values: []float64{1, 2.5, math.NaN(), 0},
	}
	data, err := encode("load", 1, s)
	if err != nil {
		t.Fatal(err)
	}
	want := "t,load\n1700000040,1.0\n1700000100,2.5\n1700000160,\n1700000220,0.0\n"
	if diff := cmp.Diff(want, string(unzip(t, data))); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	path := filepath.Join(t.TempDir(), "load.csv.gz")
	if err = os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, readTrace(t, path), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func unzip(t *testing.T, data []byte) []byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !zip.ModTime.IsZero() {
		t.Errorf("the gzip header carries the time %v, want none", zip.ModTime)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
