package main

import (
	"strings"
	"testing"
)

// Each lever has a row for each policy on each trace, and one for all, and the same traces give the same rows.
func TestLevers(t *testing.T) {
	dir := folder(t)
	text := output(t, "--traces", dir, "--levers", "--jobs=1")
	if again := output(t, "--traces", dir, "--levers", "--jobs=3"); again != text {
		t.Errorf("a second run differs:\n%s\n%s", text, again)
	}
	all := 0
	for row := range strings.Lines(text) {
		if strings.Contains(row, "  all ") {
			all++
		}
		if strings.Contains(row, "NaN") {
			t.Error(row)
		}
	}
	if want := 3 + 3*len(levers()); all != want {
		t.Errorf("%d policies, want %d:\n%s", all, want, text)
	}
}
