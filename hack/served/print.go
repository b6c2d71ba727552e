package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// printSteps writes a line for each step of one play: the time, what was observed and what is served, to the last bit.
// Revisions are compared by it: another shape of the lines makes them incomparable.
func printSteps(ctx context.Context, o options, out io.Writer) error {
	all, err := allPlays(o.data, io.Discard)
	if err != nil {
		return err
	}
	chosen, err := choose(all, o.names)
	if err != nil {
		return err
	}
	if len(chosen) != 1 {
		return fmt.Errorf("%d plays are asked for, want one: print NAME/REQUEST", len(chosen))
	}
	buffered := bufio.NewWriter(out)
	var problem error
	err = chosen[0].steps(ctx, o.length(), func(s step) bool {
		_, problem = fmt.Fprintln(buffered, s)
		return problem == nil
	})
	return errors.Join(err, problem, buffered.Flush())
}

// String is the step as a line.
func (s step) String() string {
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return s.at.UTC().Format(time.RFC3339) + " " + exact(s.observed) + " " + exact(s.served)
}

// parseStep reads a line of printSteps.
func parseStep(line string) (step, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return step{}, fmt.Errorf("%q, want a time and two values", line)
	}
	at, errAt := time.Parse(time.RFC3339, fields[0])
	observed, errObserved := strconv.ParseFloat(fields[1], 64)
	served, errServed := strconv.ParseFloat(fields[2], 64)
	return step{at: at, observed: observed, served: served}, errors.Join(errAt, errObserved, errServed)
}
