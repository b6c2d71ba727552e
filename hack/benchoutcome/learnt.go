package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// studied are the lead times that priors are shipped for.
func studied() []lead {
	return []lead{{median: 2 * time.Minute}, {median: 5 * time.Minute}, {median: 10 * time.Minute}}
}

// writePriors fits what forewarm ships to all traces that count, no family left out: the shape of the window's maximum and
// what is late under each multiple of its spread. It writes them to the folders of the packages that ship them.
func writePriors(traces []recorded, o options, words io.Writer) error {
	r, err := rivalNamed("forewarm")
	if err != nil {
		return err
	}
	o.rivals = []rival{r}
	for _, l := range studied() {
		o.lead = l
		trials := newTrials(traces, o)
		if err := prepare(trials, o, words); err != nil {
			return err
		}
		all := &trial{
			recorded: recorded{
				family: "everybody's",
			},
			lead:   l,
			step:   o.step,
			models: inOrder(o.models),
			others: trials,
		}
		if err := all.writeShape(o.priors); err != nil {
			return err
		}
		if err := all.writeMargin(o.priors); err != nil {
			return err
		}
		fmt.Fprintf(words, "L = %s: fitted to %s\n", l, strings.Join(counting(trials), ", "))
	}
	return nil
}

func (t *trial) writeShape(folder string) error {
	prior, err := t.shapePrior()
	if err != nil {
		return err
	}
	return t.write(folder, "windowpeak", func(out io.Writer) error { return prior.Write(out, t.window()) })
}

func (t *trial) writeMargin(folder string) error {
	priors, err := t.marginPrior()
	if err != nil {
		return err
	}
	return t.write(folder, "decide/margin", func(out io.Writer) error { return priors.Write(out, t.lead.planned()) })
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
