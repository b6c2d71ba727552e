package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchoutcome:", err)
		os.Exit(1)
	}
}

// run plays what the command line asks for. Lines and tables go to out, progress to words.
func run(args []string, out, words io.Writer) error {
	o, err := parse(args, os.Getenv("FOREWARM_DATA"))
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	traces, err := readTraces(o.traces...)
	if err != nil {
		return err
	}
	if o.priors != "" {
		return writePriors(traces, o, words)
	}
	if o.scheduled && !o.ablation {
		made, problem := scheduled()
		if problem != nil {
			return problem
		}
		traces = append(traces, made...)
	}
	trials := newTrials(traces, o)
	if o.ablation {
		return ablate(trials, o, out, words)
	}
	s, err := played(traces, trials, o, out, words)
	if err != nil {
		return err
	}
	return s.print(out)
}

// played is the summary of all that is played, with its lines on the way. Made loads have tables, and no lines.
func played(traces []recorded, trials []*trial, o options, out, words io.Writer) (summary, error) {
	s := summary{rivals: o.rivals, options: o}
	var err error
	s.results, err = playAll(trials, o, words, func(t *trial, l line) error {
		if !o.asJSON || t.made() {
			return nil
		}
		return l.print(out)
	})
	if err == nil {
		s.slower, err = playSlower(traces, o, words)
	}
	if err == nil && o.cpu {
		s.efforts, err = measure(trials, o.rivals, words)
	}
	return s, err
}
