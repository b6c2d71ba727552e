package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// module is the prefix of the packages' names; the rest of a name is its folder.
const module = "github.com/forewarm/forewarm"

// target is one fuzz target.
type target struct {
	pkg, name string
}

// list lists the targets of every package.
func (c *config) list(ctx context.Context) ([]target, error) {
	command := c.command(ctx, append([]string{"test", "-vet=off", "-json", "-list", c.target}, c.packages...)...)
	events, err := command.Output()
	var out []target
	var output strings.Builder
	for line := range bytes.Lines(events) {
		// An event of go test -json (go doc test2json, go help buildjson).
		var e struct{ Package, Output string }
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		output.WriteString(e.Output)
		if name := strings.TrimSpace(e.Output); targetName.MatchString(name) {
			out = append(out, target{pkg: e.Package, name: name})
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("list the targets: %w\n%s", err, output.String())
	case len(out) == 0:
		return nil, errors.New("no target matches -target in these packages")
	}
	slices.SortFunc(out, func(a, b target) int {
		return strings.Compare(a.pkg+" "+a.name, b.pkg+" "+b.name)
	})
	return out, nil
}

var targetName = regexp.MustCompile(`^Fuzz\w*$`)

// result is the result of a target.
type result struct {
	target

	// executions, found and corpus are as go test prints them: the inputs tried, those of them that reached new code in
	// this run, and the size of the corpus.
	executions, found, corpus string
	took                      time.Duration
	failed                    bool
	// input is the file that holds the failing input, from the root of the repository; seed the failing seed instead.
	input, seed string
}

var (
	progress = regexp.MustCompile(`^fuzz: elapsed: .*, execs: (\d+) .*, new interesting: (\d+) \(total: (\d+)\)`)
	written  = regexp.MustCompile(`^\s*Failing input written to (\S+)`)
	seeded   = regexp.MustCompile(`failure while testing seed corpus entry: (\S+)`)
)

// read reads a line of go test.
func (r *result) read(line string) {
	if m := progress.FindStringSubmatch(line); m != nil {
		r.executions, r.found, r.corpus = m[1], m[2], m[3]
	}
	if m := written.FindStringSubmatch(line); m != nil {
		r.input = path.Join(r.folder(), m[1])
	}
	if m := seeded.FindStringSubmatch(line); m != nil {
		r.seed = m[1]
	}
}

// folder is that of the package.
func (t target) folder() string { return "." + strings.TrimPrefix(t.pkg, module) }

// writeTable writes the table, and the failures last.
func writeTable(out io.Writer, results []result) {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PACKAGE\tTARGET\tEXECUTIONS\tNEW\tCORPUS\tTIME\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.folder(), r.name, r.executions, r.found, r.corpus, r.took,
			map[bool]string{true: "FAILED"}[r.failed])
	}
	table.Flush() //nolint:errcheck // As with every other print.
	for _, r := range results {
		if !r.failed {
			continue
		}
		fmt.Fprintf(out, "\n%s of %s failed", r.name, r.folder())
		switch {
		case r.input != "":
			fmt.Fprintf(out, ": the input is %s\n    go test -run '^%s$/^%s$' ./%s\n", r.input, r.name,
				path.Base(r.input), path.Clean(r.folder()))
		case r.seed != "":
			fmt.Fprintf(
				out,
				" on %s, which is a seed: go test -run '^%s$' ./%s\n",
				r.seed,
				r.name,
				path.Clean(r.folder()),
			)
		default:
			fmt.Fprintf(out, " without an input: what it printed is above\n")
		}
	}
}

// lineWriter hands on whole lines.
type lineWriter struct {
	rest []byte
	each func(line string)
}

// Write writes to the lines.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.each(string(w.rest[:i+1]))
		w.rest = w.rest[i+1:]
	}
}

func (w *lineWriter) close() {
	if len(w.rest) > 0 {
		w.each(string(w.rest) + "\n")
	}
}
