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
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// playResult is the result of a play: what was served, and how much time it took.
type playResult struct {
	entry
	// unserved is the number of steps without a value.
	unserved, steps int
	spent           time.Duration
}

// run simulates the first part of a history, or all of it if the length is 0.
func (p play) run(ctx context.Context, length time.Duration) (playResult, error) {
	var out playResult
	var h hours
	begun := time.Now()
	err := p.steps(ctx, length, func(s step) bool {
		out.steps++
		if math.IsNaN(s.served) {
			out.unserved++
		}
		h.add(s.at, s.served)
		return true
	})
	out.entry = entry{name: p.String(), demand: sumOf(p.demand.Values), hours: h.close()}
	out.spent = time.Since(begun)
	return out, err
}

// each calls do for every play, several at a time.
func (o options) each(plays []play, do func(i int)) {
	var group errgroup.Group
	group.SetLimit(o.jobs)
	for i := range plays {
		group.Go(func() error { do(i); return nil })
	}
	_ = group.Wait() //nolint:errcheck // None returns an error.
}

// check simulates the selected plays and compares them with the record, or writes the record again.
func check(ctx context.Context, o options, out, progress io.Writer) error {
	if fusesMultiplyAdd() {
		return errors.New("the records are of amd64: this processor rounds in another way, see hack/served/doc.go")
	}
	all, chosen, err := plays(o, progress)
	if err != nil {
		return err
	}
	recorded, played := record{}, record{}
	for _, k := range []kind{workloads, scenarios} {
		r, err := readRecord(o.records, k)
		if err != nil {
			return err
		}
		maps.Copy(recorded, r)
	}
	var (
		one      sync.Mutex
		problems []error
		differ   []string
	)
	o.each(chosen, func(i int) {
		got, err := chosen[i].run(ctx, o.length())
		one.Lock()
		defer one.Unlock()
		if err != nil {
			problems = append(problems, err)
			return
		}
		if verdict := recorded[got.name].difference(got.entry, o.days == 0); verdict != "" {
			differ = append(differ, got.name)
			fmt.Fprintf(out, "%s: %s\n", got.name, verdict)
		}
		played[got.name] = got.entry
		fmt.Fprintf(progress, "%d of %d: %s: %d hours in %s, nothing served at %d of %d steps\n", len(played),
			len(chosen), got.name, len(got.hours), got.spent.Round(10*time.Millisecond), got.unserved, got.steps)
	})
	switch {
	case len(problems) > 0:
		return errors.Join(problems...)
	case o.update:
		return played.write(o.records, all)
	case len(differ) > 0:
		return fmt.Errorf("%d of %d are not as recorded. Where that is meant: make test-served UPDATE=1. "+
			"To see the values: hack/served/diff.sh REV '%s'", len(differ), len(chosen), differ[0])
	}
	fmt.Fprintf(out, "%d of %d are as recorded\n", len(chosen), len(chosen))
	return nil
}

// write writes the results into the records on disk. It reads the records again first, because another check may have written them in the
// meantime. Names that no longer exist are removed.
func (r record) write(dir string, all []play) error {
	for _, k := range []kind{workloads, scenarios} {
		plays := slices.DeleteFunc(slices.Clone(all), func(p play) bool { return p.kind != k })
		if !slices.ContainsFunc(plays, func(p play) bool { return r[p.String()].name != "" }) {
			continue
		}
		whole, err := readRecord(dir, k)
		if err != nil {
			return err
		}
		maps.Copy(whole, r)
		//nolint:gosec // Meant to be read by all.
		if err := os.WriteFile(recordPath(dir, k), []byte(whole.text(plays)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
