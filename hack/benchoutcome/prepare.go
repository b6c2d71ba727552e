package main

import (
	"fmt"
	"io"
	"slices"
)

// stage is something that is computed of a trace for those of other families.
type stage struct {
	name string
	of   func(*trial) error
}

// The stages, each of which may build on those before it.
func rehearsals() stage {
	return stage{"what the reactive rules do", func(t *trial) error { _, err := t.rehearsed(); return err }}
}

func rows() stage {
	return stage{"rows for the regression", func(t *trial) error { _, err := t.collected(); return err }}
}

func lates() stage {
	return stage{"the lateness under each multiple", func(t *trial) error { _, err := t.lates(); return err }}
}

// prepare computes what the policies know of other traces, some at a time. Whoever asked for it first would else compute it
// alone, while others wait for the same.
func prepare(trials []*trial, o options, words io.Writer) error {
	var counting []*trial
	for _, t := range trials {
		if t.counts() {
			counting = append(counting, t)
		}
	}
	var done []string
	for _, r := range o.rivals {
		for _, s := range r.learns {
			if slices.Contains(done, s.name) || len(familiesOf(counting)) < 2 {
				continue
			}
			done = append(done, s.name)
			if err := s.all(counting, o, words); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s stage) all(trials []*trial, o options, words io.Writer) error {
	errs := make([]chan error, len(trials))
	for i := range errs {
		errs[i] = make(chan error, 1)
	}
	inTurn(len(trials), o.jobs, func(i int) { errs[i] <- s.of(trials[i]) })
	for i, t := range trials {
		if err := <-errs[i]; err != nil {
			return fmt.Errorf("%s on %s: %w", s.name, t.name, err)
		}
		fmt.Fprintf(words, "L = %s, beforehand: %s: %s\n", o.lead, t.name, s.name)
	}
	return nil
}
