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
	traces, err := readTraces(o.traces)
	if err != nil {
		return err
	}
	if o.scheduled {
		made, problem := scheduled()
		if problem != nil {
			return problem
		}
		traces = append(traces, made...)
	}
	if o.priors != "" {
		return writePriors(traces, o, words)
	}
	trials := newTrials(traces, o)
	if o.ablation {
		return ablate(trials, o, out, words)
	}
	results, err := playAll(trials, o, words, func(l line) error {
		if !o.asJSON {
			return nil
		}
		return l.print(out)
	})
	if err != nil {
		return err
	}
	return summary{results: results, rivals: o.rivals}.print(out, o)
}
