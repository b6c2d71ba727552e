package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchoutcome:", err)
		os.Exit(1)
	}
}

// run runs the command line. Lines and tables go to out, progress to progress.
func run(args []string, out, progress io.Writer) error {
	o, err := parse(args, os.Getenv("FOREWARM_DATA"))
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	var before, now record
	if o.compare != "" {
		if before, err = readRecord(o.compare); err != nil {
			return err
		}
	}
	if o.lines != "" {
		now, err = readRecord(o.lines)
	} else {
		now, err = playLeads(o, out, progress)
	}
	if err != nil {
		return err
	}
	var text strings.Builder
	now.baseline(&text)
	if before != nil {
		now.compare(before, &text)
	}
	_, err = io.WriteString(out, text.String())
	return err
}

// playLeads plays the traces with each lead time.
func playLeads(o options, out, progress io.Writer) (record, error) {
	traces, err := readTraces(o.traces...)
	if err != nil {
		return nil, err
	}
	if o.priors != "" {
		return nil, writePriors(traces, o, progress)
	}
	if o.scheduled && !o.ablation {
		made, problem := scheduledLoads()
		if problem != nil {
			return nil, problem
		}
		traces = append(traces, made...)
	}
	var lines record
	for i, l := range o.leads {
		o.lead, o.cpu = l, o.cpu && i == 0
		some, err := playLead(traces, o, out, progress)
		if err != nil {
			return nil, err
		}
		lines = append(lines, some...)
	}
	return lines, nil
}

// playLead plays the traces with one lead time and prints the results.
func playLead(traces []recorded, o options, out, progress io.Writer) (record, error) {
	trials := newTrials(traces, o)
	if o.ablation {
		return nil, ablate(trials, o, out, progress)
	}
	var lines record
	s, err := played(traces, trials, o, progress, func(t *trial, l line) error {
		if t.synthetic() {
			return nil
		}
		if l.Objective == 0 {
			lines = append(lines, l)
		}
		if !o.asJSON {
			return nil
		}
		return l.print(out)
	})
	if err == nil {
		err = s.print(out)
	}
	return lines, err
}

// played is the summary of one lead time; each is called with every line.
func played(
	traces []recorded, trials []*trial, o options, progress io.Writer, each func(*trial, line) error,
) (summary, error) {
	s := summary{policies: o.policies, options: o}
	var err error
	s.results, err = playAll(trials, o, progress, each)
	if err == nil {
		s.slower, err = playSlower(traces, o, progress, each)
	}
	if err == nil && o.cpu {
		s.cpuTimes, err = measureCPU(trials, o.policies, progress)
	}
	return s, err
}
