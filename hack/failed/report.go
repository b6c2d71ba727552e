package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// event is an event of go test -json (go doc test2json, go help buildjson).
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// report is the state of a run of tests.
type report struct {
	out     io.Writer
	root    string
	verbose bool
	// output is the output of the unfinished tests, packages (without a test) and builds.
	output map[source]*strings.Builder
	// printed is the source of the last printed output.
	printed source
	// failures are the blocks to repeat; failed are their tests and those tests' parents.
	failures []string
	failed   map[source]bool

	passes, fails, skips int
}

// source of output: a test, or a package, whose test is empty, or its build.
type source struct {
	where, test string
	build       bool
}

func newReport(out io.Writer, root string, verbose bool) *report {
	return &report{
		out: out, root: root, verbose: verbose, output: map[source]*strings.Builder{}, failed: map[source]bool{},
	}
}

// record records the next event.
func (r *report) record(e event) {
	from := source{where: cmp.Or(e.Package, e.ImportPath), test: e.Test}
	switch e.Action {
	case "start", "run", "output":
		r.write(from, e.Output)
		if r.verbose && e.Output != "" {
			r.print(from, e.Output)
		}
	case "build-output":
		from.build = true
		r.write(from, e.Output)
		r.print(from, e.Output)
	case "build-fail":
		from.build = true
		r.fail(from, "the build of "+e.ImportPath)
	case "pass", "skip":
		r.pass(from, e.Action)
	case "fail":
		if e.Test == "" {
			r.failPackage(from, e.FailedBuild != "")
			return
		}
		if !r.verbose {
			r.print(from, unframed(r.text(from)))
		}
		r.fail(from, e.Test+" of "+e.Package)
	}
}

func (r *report) write(from source, text string) {
	if r.output[from] == nil {
		r.output[from] = &strings.Builder{}
	}
	r.output[from].WriteString(text)
}

// text is the output of an unfinished source.
func (r *report) text(from source) string {
	if text := r.output[from]; text != nil {
		return text.String()
	}
	return ""
}

// print prints output of a source. Where several write at once, it names the source, as go test -v does.
func (r *report) print(from source, text string) {
	if from != r.printed && from.test != "" && r.verbose && !framing(text) {
		fmt.Fprintf(r.out, "=== NAME  %s\n", from.test)
	}
	r.printed = from
	fmt.Fprint(r.out, text)
}

// pass ends a test or a package that did not fail. Of a package, go test prints no more than the last line.
func (r *report) pass(from source, how string) {
	switch {
	case from.test != "" && how == "pass":
		r.passes++
	case from.test != "":
		r.skips++
	case !r.verbose:
		for line := range strings.Lines(r.text(from)) {
			if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
				r.print(from, line)
			}
		}
	}
	delete(r.output, from)
}

// failPackage ends a package that failed, and its unfinished tests: it panicked or took too long.
func (r *report) failPackage(from source, unbuilt bool) {
	for _, unfinished := range slices.SortedFunc(maps.Keys(r.output), compare) {
		if unfinished.where == from.where && unfinished.test != "" {
			r.record(event{Action: "fail", Package: from.where, Test: unfinished.test})
		}
	}
	if !r.verbose {
		r.print(from, r.text(from))
	}
	if !unbuilt && !r.failed[from] {
		r.fail(from, from.where)
	}
	delete(r.output, from)
}

func compare(a, b source) int {
	// Subtests before their parents.
	return cmp.Or(cmp.Compare(a.where, b.where), -cmp.Compare(a.test, b.test))
}

// longest is how many lines of a failure are repeated: half from its start, where a panic has its message, and half
// from its end, where a test has its last error.
const longest = 40

// fail keeps a failure, to repeat it. A test that failed only because one of its subtests did is not repeated.
func (r *report) fail(from source, what string) {
	r.fails++
	lines := r.messages(from)
	if n := len(lines); n > longest {
		lines = slices.Replace(lines, longest/2, n-longest/2, fmt.Sprintf("    … %d lines, above …\n", n-longest))
	}
	if len(lines) > 0 || !r.failed[from] {
		r.failures = append(r.failures, "--- FAIL: "+what+"\n"+strings.Join(lines, ""))
	}
	for parent := from.test; parent != ""; {
		parent = parent[:max(0, strings.LastIndexByte(parent, '/'))]
		r.failed[source{where: from.where, test: parent}] = true
	}
	delete(r.output, from)
}

// message matches the first line of a message, as the package testing prints it.
var message = regexp.MustCompile(`^ +(\S+\.go):(\d+): `)

// messages are the lines of a source that may be the reason of its failure: all but the frame and the log.
func (r *report) messages(from source) []string {
	var out []string
	logged := false
	for line := range strings.Lines(r.text(from)) {
		head := message.FindStringSubmatch(line)
		switch {
		case framing(line):
			continue
		case head != nil:
			logged = r.logs(from.where, head[1], head[2])
		case !strings.HasPrefix(line, strings.Repeat(" ", 8)):
			logged = false // Not part of a message: for example the race detector's.
		}
		if !logged {
			out = append(out, line)
		}
	}
	return out
}

// module is the prefix of the packages' names; the rest of a name is its folder.
const module = "github.com/forewarm/forewarm"

// The calls that print a message and are no failure, and those that are.
var (
	log     = regexp.MustCompile(`\.(Log|Skip)f?\(`)
	failure = regexp.MustCompile(`\.(Error|Fatal)f?\(`)
)

// logs reports whether a line of a package's source logs, because go test does not mark failures. A message whose line
// cannot be read counts as a failure.
func (r *report) logs(where, file, line string) bool {
	text, err := os.ReadFile(filepath.Join(r.root, strings.TrimPrefix(where, module), file))
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(line)
	lines := strings.Split(string(text), "\n")
	if err != nil || n < 1 || n > len(lines) {
		return false
	}
	return log.MatchString(lines[n-1]) && !failure.MatchString(lines[n-1])
}

// framing reports whether a line belongs to the frame around tests' output.
func framing(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ")
}

// unframed is a test's output without the lines that only go test -v prints.
func unframed(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "=== ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// close prints the failures and the numbers of tests. It returns how many failed. A package that has not ended was
// interrupted, which is a failure too.
func (r *report) close() int {
	for _, unfinished := range slices.SortedFunc(maps.Keys(r.output), compare) {
		if unfinished.test == "" && !unfinished.build {
			r.failPackage(unfinished, false)
		}
	}
	if len(r.failures) > 0 {
		fmt.Fprintf(r.out, "\nFailures:\n\n%s\n", strings.Join(r.failures, "\n"))
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passes, r.fails, r.skips)
	return r.fails
}
