package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// files are a module whose packages fare in every way.
var files = map[string]string{
	"go.mod": "module " + module + "\n\ngo 1.26\n",
	"good/good_test.go": `package good

import "testing"

func TestGood(t *testing.T) { t.Log("all is well") }

func TestLater(t *testing.T) { t.Skip("not today") }
`,
	"bad/bad_test.go": `package bad

import "testing"

func TestGood(t *testing.T) { t.Log("all is well") }

func TestBad(t *testing.T) {
	t.Log("noise\nof two lines")
	t.Error("two is not\nthree"); t.Logf("in one line")
	t.Cleanup(func() { t.Logf("%s", "the end of a server's log") })
}

func TestParts(t *testing.T) {
	t.Run("One", func(t *testing.T) {})
	t.Run("Two", func(t *testing.T) { check(t, 2) })
}

func check(t *testing.T, n int) {
	t.Helper()
	t.Fatalf("%d is refused", n)
}
`,
	"panics/panics_test.go": `package panics

import "testing"

func TestPanics(t *testing.T) { panic("at the disco") }
`,
	"unbuilt/unbuilt_test.go": `package unbuilt

import "testing"

func TestUnbuilt(t *testing.T) { nothing() }
`,
	"exits/exits_test.go": `package exits

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(*testing.M) { fmt.Println("no database"); os.Exit(3) }
`,
	"alone/alone.go": "package alone\n",
}

// run is what is printed of the tests of some packages, and how many failed.
func run(t *testing.T, verbose bool, packages ...string) (string, int) {
	t.Helper()
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
	command := exec.CommandContext(t.Context(), "go", append([]string{"test", "-json"}, packages...)...)
	command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	events, err := command.Output()
	if len(events) == 0 {
		t.Fatal(err)
	}
	var out strings.Builder
	r := newReport(&out, root, verbose)
	for decoder := json.NewDecoder(bytes.NewReader(events)); decoder.More(); {
		var e event
		if err := decoder.Decode(&e); err != nil {
			t.Fatal(err)
		}
		r.record(e)
	}
	failed := r.close()
	return out.String(), failed
}

func TestAfterSuccessTheLastLineCounts(t *testing.T) {
	t.Parallel()
	out, failed := run(t, false, "./good", "./alone")
	if want := "1 passed, 0 failed, 1 skipped\n"; failed != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("%d failed, want 0; the end is to be %q of\n%s", failed, want, out)
	}
	if !strings.Contains(out, "ok  \tgithub.com/forewarm/forewarm/good\t") || strings.Contains(out, "all is well") {
		t.Errorf("of a package that passed, want the line ok and nothing else:\n%s", out)
	}
}

func TestWhatFailedIsRepeatedLast(t *testing.T) {
	t.Parallel()
	out, failed := run(t, false, "./...")
	const want = `
--- FAIL: TestBad of github.com/forewarm/forewarm/bad
    bad_test.go:9: two is not
        three

--- FAIL: TestParts/Two of github.com/forewarm/forewarm/bad
    bad_test.go:15: 2 is refused

--- FAIL: github.com/forewarm/forewarm/exits
no database
FAIL	github.com/forewarm/forewarm/exits

--- FAIL: TestPanics of github.com/forewarm/forewarm/panics
panic: at the disco

--- FAIL: the build of github.com/forewarm/forewarm/unbuilt [github.com/forewarm/forewarm/unbuilt.test]
# github.com/forewarm/forewarm/unbuilt [github.com/forewarm/forewarm/unbuilt.test]
unbuilt/unbuilt_test.go:5:34: undefined: nothing
`
	before, again, _ := strings.Cut(out, "Failures:\n")
	for failure := range strings.SplitSeq(want, "\n\n") {
		if !strings.Contains(again, strings.TrimSpace(failure)) {
			t.Errorf("at the end there is no\n%s\nin\n%s", failure, again)
		}
	}
	if failed != 6 || !strings.HasSuffix(again, "\n3 passed, 6 failed, 1 skipped\n") {
		t.Errorf("%d failed, want 6, in the last line:\n%s", failed, again)
	}
	for _, line := range []string{"noise", "server's log", "TestOne", "all is well"} {
		if strings.Contains(again, line) {
			t.Errorf("%q was logged, and is no failure:\n%s", line, again)
		}
	}
	// Before that stands what go test prints, of failed tests with all that they logged.
	for _, line := range []string{"noise", "the end of a server's log", "FAIL\tgithub.com/forewarm/forewarm/bad\t"} {
		if !strings.Contains(before, line) {
			t.Errorf("%q is not in\n%s", line, before)
		}
	}
}

func TestVerboseIsWhatGoTestPrints(t *testing.T) {
	t.Parallel()
	out, failed := run(t, true, "./bad")
	const want = `=== RUN   TestGood
    bad_test.go:5: all is well
--- PASS: TestGood (0.00s)
=== RUN   TestBad
    bad_test.go:8: noise
        of two lines
    bad_test.go:9: two is not
        three
`
	if failed != 3 || !strings.HasPrefix(out, want) {
		t.Errorf("%d failed, want 3; the beginning is to be\n%s\nof\n%s", failed, want, out)
	}
}

// Go tells of tests in parallel whose output it is by lines that it leaves out of the events.
func TestOutputInParallelHasItsTestsName(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out, ".", true)
	for _, e := range []event{
		{Action: "run", Test: "TestA"},
		{Action: "output", Test: "TestA", Output: "=== RUN   TestA\n"},
		{Action: "output", Test: "TestA", Output: "a1\n"},
		{Action: "output", Test: "TestB", Output: "b1\n"},
		{Action: "output", Test: "TestB", Output: "b2\n"},
		{Action: "output", Test: "TestA", Output: "a2\n"},
	} {
		r.record(e)
	}
	const want = "=== RUN   TestA\na1\n=== NAME  TestB\nb1\nb2\n=== NAME  TestA\na2\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A package that panics or takes too long ends without a word of the tests that had not ended.
func TestATestWithoutAnEndHasFailed(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out, ".", true)
	for _, e := range []event{
		{Action: "run", Package: "p", Test: "TestSlow"},
		{Action: "output", Package: "p", Test: "TestSlow", Output: "panic: test timed out after 20m0s\n"},
		{Action: "output", Package: "p", Output: "FAIL\tp\t1200s\n"},
		{Action: "fail", Package: "p"},
	} {
		r.record(e)
	}
	failed := r.close()
	const want = "--- FAIL: TestSlow of p\npanic: test timed out after 20m0s\n\n0 passed, 1 failed, 0 skipped\n"
	if failed != 1 || !strings.HasSuffix(out.String(), want) {
		t.Errorf("%d failed, want 1, and at the end\n%s\nof\n%s", failed, want, out.String())
	}
}

func TestAPackageThatWasInterruptedHasFailed(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out, ".", false)
	for _, e := range []event{
		{Action: "build-output", ImportPath: "p", Output: "a warning\n"},
		{Action: "start", Package: "p"},
		{Action: "run", Package: "p", Test: "TestSlow"},
	} {
		r.record(e)
	}
	failed := r.close()
	const want = "a warning\n\nFailures:\n\n--- FAIL: TestSlow of p\n\n0 passed, 1 failed, 0 skipped\n"
	if failed != 1 || out.String() != want {
		t.Errorf("%d failed, want 1, and\n%s\nto be\n%s", failed, out.String(), want)
	}
}

func TestOfALongFailureTheMiddleIsLeftOut(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out, ".", true)
	r.record(event{Action: "output", Package: "p", Test: "TestLong", Output: "first\n"})
	for range 98 {
		r.record(event{Action: "output", Package: "p", Test: "TestLong", Output: "on\n"})
	}
	r.record(event{Action: "output", Package: "p", Test: "TestLong", Output: "last\n"})
	r.record(event{Action: "fail", Package: "p", Test: "TestLong"})
	r.close()
	_, again, _ := strings.Cut(out.String(), "Failures:\n")
	want := "\n\n--- FAIL: TestLong of p\nfirst\n" + strings.Repeat("on\n", 19) + "    … 60 lines, above …\n" +
		strings.Repeat("on\n", 19) + "last\n\n0 passed, 1 failed, 0 skipped\n"
	if "\n"+again != want {
		t.Errorf("got\n%s\nwant\n%s", again, want)
	}
}
