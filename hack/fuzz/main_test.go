package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// files are a module with targets that hold, that fail, and that fail on a seed.
var files = map[string]string{
	"go.mod":       "module github.com/forewarm/forewarm\n\ngo 1.26\n",
	"none/none.go": "package none\n",
	"two/two_test.go": `package two

import "testing"

func FuzzHolds(f *testing.F) {
	f.Add("a")
	f.Fuzz(func(*testing.T, string) {})
}

func FuzzFalls(f *testing.F) {
	f.Add([]byte("a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1 {
			t.Error("longer than one")
		}
	})
}
`,
	"one/one_test.go": `package one

import "testing"

func TestNothing(*testing.T) {}

func FuzzSeed(f *testing.F) {
	f.Add("a")
	f.Fuzz(func(t *testing.T, s string) {
		if s == "a" {
			t.Error("an a")
		}
	})
}
`,
}

func TestEveryTargetRunsAndFailuresNameTheirInput(t *testing.T) {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CGO_ENABLED", "0")
	var out strings.Builder
	c := config{dir: root, packages: []string{"./..."}, target: "^Fuzz", time: 2 * time.Second, parallel: 1}
	err := c.run(t.Context(), &out)
	if err == nil || err.Error() != "2 of 3 targets failed" {
		t.Errorf("error %v of\n%s", err, out.String())
	}
	_, table, _ := strings.Cut(out.String(), "\n\nPACKAGE")
	for _, want := range []string{
		`\./one +FuzzSeed +\d* +\d* +\d* +(\d+m)?\d+s +FAILED\n\./two +FuzzFalls .* FAILED\n\./two +FuzzHolds +\d+ +\d+ +\d+ +(\d+m)?\d+s +\n`,
		`\nFuzzSeed of \./one failed on FuzzSeed/seed#0, which is a seed: go test -run '\^FuzzSeed\$' \./one\n`,
	} {
		if !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	found := regexp.MustCompile(`FuzzFalls of \./two failed: the input is (two/testdata/fuzz/FuzzFalls/\w+)\n`).
		FindStringSubmatch(table)
	if found == nil {
		t.Fatalf("no failing input is named in\n%s", out.String())
	}
	if text, err := os.ReadFile(filepath.Join(root, found[1])); err != nil ||
		!strings.HasPrefix(string(text), "go test fuzz v1\n") {
		t.Errorf("%s holds %q, %v", found[1], text, err)
	}
}

func TestNoTargetIsAnError(t *testing.T) {
	c := config{packages: []string{"."}, target: "^FuzzOfNothing$"}
	if err := c.run(t.Context(), t.Output()); err == nil || !strings.Contains(err.Error(), "no target") {
		t.Errorf("error %v", err)
	}
}
