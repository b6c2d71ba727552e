package main

import (
	"fmt"
	"io"
	"slices"
)

// stage computes something of a trace for the priors of other families.
type stage struct {
	name string
	of   func(*trial) error
}

// The stages; each may use those before it.
func rehearsalStage() stage {
	return stage{"results of the reactive rules", func(t *trial) error { _, err := t.rehearsed(); return err }}
}

func rowsStage() stage {
	return stage{"rows for the regression", func(t *trial) error { _, err := t.collected(); return err }}
}

func lateSharesStage() stage {
	return stage{
		"lateness under each headroom multiplier",
		func(t *trial) error { _, err := t.lateShares(); return err },
	}
}

// prepare computes in parallel what the priors of the policies are fitted to: policies would compute it one at a time.
func prepare(trials []*trial, o options, progress io.Writer) error {
	var counting []*trial
	for _, t := range trials {
		if t.counts() {
			counting = append(counting, t)
		}
	}
	var done []string
	for _, r := range o.policies {
		for _, s := range r.stages {
			if slices.Contains(done, s.name) || len(familiesOf(counting)) < 2 {
				continue
			}
			done = append(done, s.name)
			if err := s.computeAll(counting, o, progress); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s stage) computeAll(trials []*trial, o options, progress io.Writer) error {
	errs := make([]chan error, len(trials))
	for i := range errs {
		errs[i] = make(chan error, 1)
	}
	parallel(len(trials), o.jobs, func(i int) { errs[i] <- s.of(trials[i]) })
	for i, t := range trials {
		if err := <-errs[i]; err != nil {
			return fmt.Errorf("%s on %s: %w", s.name, t.name, err)
		}
		fmt.Fprintf(progress, "L = %s, beforehand: %s: %s\n", o.lead, t.name, s.name)
	}
	return nil
}
