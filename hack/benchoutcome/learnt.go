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
func studied() []time.Duration {
	return []time.Duration{2 * time.Minute, 5 * time.Minute, 10 * time.Minute}
}

// writePriors fits the priors that forewarm ships to all traces that count, no family left out, and writes them to a
// folder.
func writePriors(traces []recorded, o options, words io.Writer) error {
	o.models = nil // The server's learner has none yet.
	for _, lead := range studied() {
		o.lead = lead
		trials := newTrials(traces, o)
		all := &trial{recorded: recorded{family: "everybody's"}, lead: lead, step: o.step, others: trials}
		prior, err := all.shapePrior()
		if err != nil {
			return err
		}
		name := filepath.Join(o.priors, "lead-"+lead.String()+".json")
		file, err := os.Create(name)
		if err != nil {
			return err
		}
		err = prior.Write(file, all.window())
		if problem := file.Close(); err == nil {
			err = problem
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(words, "%s: fitted to %s\n", name, strings.Join(counting(trials), ", "))
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
