package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPage: a run counts for the version that it was with, and no longer once go.mod has another.
func TestPage(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantRow := func(row string) {
		t.Helper()
		got, err := page(folder)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, row+"\n") {
			t.Errorf("the page lacks the row %s:\n%s", row, got)
		}
	}
	pass := func(target, day string) {
		t.Helper()
		now, err := time.Parse(time.DateOnly, day)
		if err == nil {
			err = record(folder, target, []string{"engine"}, now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const requirements = "go 1.99\nrequire (\nexample.org/a v1.0.0\nexample.org/a/b %s // indirect\nexample.org/c v1.3.0\n)\n"
	write("engine/go.mod", strings.ReplaceAll(requirements, "%s", "v1.2.0"))
	write("engine/binaries", "one example.org/a/b/cmd/one\ntwo example.org/a/b\n")
	write("crds/more/go.mod", "require (\nexample.org/crds v1.4.0\nexample.org/d v1.5.0 // indirect\n)\n")
	write("unavailable.txt", "# comment\nexample.org/c v1.9.0 2026-12-01 an older one: v1.3.0\n")
	wantRow("| one, two | `example.org/a/b` | v1.2.0 | no run is recorded with this version |")
	wantRow("| CustomResourceDefinitions only | `example.org/crds` | v1.4.0 | no run is recorded with this version |")
	wantRow("| `example.org/c` | v1.9.0 | 2026-12-01 | an older one: v1.3.0 |")

	pass("e2e", "2026-12-01")
	pass("e2e", "2026-12-02")
	pass("test", "2026-12-03")
	wantRow("| one, two | `example.org/a/b` | v1.2.0 | `make test` on 2026-12-03, `make e2e` on 2026-12-02 |")
	write("engine/go.mod", strings.ReplaceAll(requirements, "%s", "v1.2.1"))
	pass("test", "2026-12-04")
	wantRow("| one, two | `example.org/a/b` | v1.2.1 | `make test` on 2026-12-04 |")

	write("engine/binaries", "one example.org/unknown\n")
	if _, err := page(folder); err == nil || !strings.Contains(err.Error(), "no module for example.org/unknown") {
		t.Errorf("a program of no module: %v", err)
	}
	write("tested.txt", "e2e engine\n")
	if _, err := page(folder); err == nil || !strings.Contains(err.Error(), `"e2e engine" has 2 fields, want 5`) {
		t.Errorf("a line that is too short: %v", err)
	}
}
