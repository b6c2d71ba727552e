package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// playResult of a play: what was served, and what it took.
type playResult struct {
	entry
	// unserved is at how many of the steps nothing was served.
	unserved, steps int
	spent           time.Duration
	err             error
}

// run plays a history's first part, or all of it where the length is 0.
func (p play) run(ctx context.Context, length time.Duration) playResult {
	var out playResult
	var h hours
	begun := time.Now()
	out.err = p.steps(ctx, length, func(s step) bool {
		out.steps++
		if math.IsNaN(s.served) {
			out.unserved++
		}
		h.add(s.at, s.served)
		return true
	})
	out.entry = entry{name: p.String(), demand: sumOf(p.demand.Values), hours: h.close()}
	out.spent = time.Since(begun)
	return out
}

// runAll plays some at a time; the outcomes go to each as they come.
func runAll(ctx context.Context, plays []play, o options, each func(playResult)) {
	outcomes := make(chan playResult)
	var begun atomic.Int64
	for range o.jobs {
		go func() {
			for i := int(begun.Add(1)) - 1; i < len(plays); i = int(begun.Add(1)) - 1 {
				outcomes <- plays[i].run(ctx, o.length())
			}
		}()
	}
	for range plays {
		each(<-outcomes)
	}
}

// check plays what was chosen and compares it with the record, or writes the record anew.
func check(ctx context.Context, o options, out, progress io.Writer) error {
	if fusesMultiplyAdd() {
		return errors.New("the records are of amd64: this processor rounds in another way, see hack/served/doc.go")
	}
	all, chosen, err := plays(o, progress)
	if err != nil {
		return err
	}
	c := checker{
		options: o, found: map[kind]record{}, played: map[kind]record{}, kinds: map[string]kind{},
		of: len(chosen), out: out, progress: progress,
	}
	for _, k := range []kind{workloads, scenarios} {
		if c.found[k], err = readRecord(o.records, k); err != nil {
			return err
		}
	}
	for _, p := range chosen {
		c.kinds[p.String()], c.played[p.kind] = p.kind, record{}
	}
	runAll(ctx, chosen, o, c.record)
	switch {
	case len(c.problems) > 0:
		return errors.Join(c.problems...)
	case o.update:
		return c.write(all)
	case len(c.differ) > 0:
		return fmt.Errorf(
			"%d of %d are not as recorded. Where that is meant: make test-served UPDATE=1. To see the values: "+
				"go run ./hack/served diff --against REV '%s'",
			len(c.differ),
			c.of,
			c.differ[0],
		)
	}
	fmt.Fprintf(out, "%d of %d are as recorded\n", c.of, c.of)
	return nil
}

// checker compares outcomes as they come, or puts them into the records.
type checker struct {
	options
	// found are the records, played what they would be; kinds says in which of them a play stands.
	found, played map[kind]record
	kinds         map[string]kind
	// differ are the names of those that are not as recorded.
	done, of      int
	differ        []string
	problems      []error
	out, progress io.Writer
}

func (c *checker) record(o playResult) {
	c.done++
	if o.err != nil {
		c.problems = append(c.problems, o.err)
		return
	}
	k := c.kinds[o.name]
	verdict := c.found[k][o.name].difference(o.entry, c.days == 0)
	if verdict != "" {
		c.differ = append(c.differ, o.name)
		fmt.Fprintf(c.out, "%s: %s\n", o.name, verdict)
	}
	c.played[k][o.name] = o.entry
	fmt.Fprintf(c.progress, "%d of %d: %s: %d hours in %s, nothing served at %d of %d steps\n",
		c.done, c.of, o.name, len(o.hours), o.spent.Round(10*time.Millisecond), o.unserved, o.steps)
}

// write puts what was played into the records as they are by now: another check may have written meanwhile. Names that are
// no longer played leave them.
func (c *checker) write(all []play) error {
	for k, played := range c.played {
		r, err := readRecord(c.records, k)
		if err != nil {
			return err
		}
		maps.Copy(r, played)
		plays := slices.DeleteFunc(slices.Clone(all), func(p play) bool { return p.kind != k })
		//nolint:gosec // Meant to be read by all.
		if err := os.WriteFile(recordPath(c.records, k), []byte(r.text(plays)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
