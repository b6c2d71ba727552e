package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder has two workloads of five days in values of ten minutes.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"outcome/workloads/a", "outcome/series_15s/b"} {
		var text strings.Builder
		text.WriteString("t,value\n")
		for n := range 5 * 144 {
			fmt.Fprintf(&text, "%d,%g\n", 600*n, 5+3*math.Sin(float64(n+36*i)*math.Pi/72))
		}
		path := filepath.Join(dir, name+".csv")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A group has a row for each size and each length of a run, and the worst figures follow.
func TestRows(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--data", folder(t), "--group", "a,b"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	rows, worst := strings.Count(text, "a, b "), strings.Count(text, "Worst group")
	if rows != 6 || worst != 2 || strings.Contains(text, "NaN") {
		t.Errorf("%d rows, want 6, and %d worst figures, want 2:\n%s", rows, worst, text)
	}
}

func TestWithoutData(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"--data", ""}, &out, io.Discard)
	if err != nil || !strings.Contains(out.String(), "FOREWARM_DATA is not set") {
		t.Errorf("%v: %q, want a message that says what is missing", err, out.String())
	}
	unknown := []string{"--data", folder(t), "--group", "a,nothing"}
	for _, args := range [][]string{{"--data", t.TempDir()}, unknown, {"--unknown"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
