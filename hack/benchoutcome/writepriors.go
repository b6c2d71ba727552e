package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// priorLeads are the lead times of the built-in priors.
func priorLeads() []lead {
	return []lead{{median: 2 * time.Minute}, {median: 5 * time.Minute}, {median: 10 * time.Minute}}
}

// writePriors fits the built-in priors to all traces that count, with no family left out: the window peak, and the lateness
// under each headroom multiplier. It writes them to the folders of their packages.
func writePriors(traces []recorded, o options, progress io.Writer) error {
	r, err := policyNamed("forewarm")
	if err != nil {
		return err
	}
	o.policies = []benchPolicy{r}
	for _, l := range priorLeads() {
		o.lead = l
		trials := newTrials(traces, o)
		if err := prepare(trials, o, progress); err != nil {
			return err
		}
		all := &trial{
			recorded: recorded{
				family: "all",
			},
			lead:   l,
			step:   o.step,
			models: inOrder(o.models),
			others: trials,
		}
		if err := all.writeWindowPeakPrior(o.priors); err != nil {
			return err
		}
		if err := all.writeHeadroomPriors(o.priors); err != nil {
			return err
		}
		fmt.Fprintf(progress, "L = %s: fitted to %s\n", l, strings.Join(counting(trials), ", "))
	}
	return nil
}

func (t *trial) writeWindowPeakPrior(folder string) error {
	prior, err := t.fitWindowPeakPrior()
	if err != nil {
		return err
	}
	return t.write(folder, "windowpeak", func(out io.Writer) error { return prior.Write(out, t.window()) })
}

func (t *trial) writeHeadroomPriors(folder string) error {
	priors, err := t.headroomPriors()
	if err != nil {
		return err
	}
	return t.write(folder, "decide/headroom", func(out io.Writer) error { return priors.Write(out, t.lead.planned()) })
}

// write writes a package's file for this lead time.
func (t *trial) write(folder, of string, to func(io.Writer) error) error {
	name := filepath.Join(folder, of, "priors", "lead-"+t.lead.String()+".json")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = to(file)
	if problem := file.Close(); err == nil {
		err = problem
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// counting are the names of the trials that count.
func counting(trials []*trial) []string {
	var names []string
	for _, t := range trials {
		if t.counts() {
			names = append(names, t.name)
		}
	}
	return names
}
