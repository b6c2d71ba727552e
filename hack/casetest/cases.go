// Package casetest reads the cases of a test that are text, such as objects and what is said about them, from a file: there they
// need no quotes of Go's.
package casetest

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// Read reads a list in YAML from a file of the test's folder testdata. A field that a case does not have is an error.
func Read[T any](tb testing.TB, file string) []T {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	var cases []T
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	if len(cases) == 0 {
		tb.Fatalf("%s has no cases", file)
	}
	return cases
}
