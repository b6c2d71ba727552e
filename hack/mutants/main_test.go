package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each mutant changes a line that is there, once, and its dependents are there. Without this, only the run of hours would say so.
func TestEveryMutantHasItsLine(t *testing.T) {
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Errorf("%q has %d fields, want a file, a text and its replacement", line, len(fields))
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", fields[0]))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(text), fields[1]); n != 1 {
			t.Errorf("%s: %q occurs %d times, want once: fix mutants.tsv", fields[0], fields[1], n)
		}
		for _, pattern := range dependents(fields[0]) {
			if _, err := os.Stat(filepath.Join("..", "..", strings.TrimSuffix(pattern, "/..."))); err != nil {
				t.Errorf("the dependents of %s: %v: every mutant would count as caught", fields[0], err)
			}
		}
	}
}
