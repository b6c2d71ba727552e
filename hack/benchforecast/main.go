package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/hack/demandtest"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchforecast:", err)
		os.Exit(1)
	}
}

// online is the name of the traces' rolling origin among the sets.
const online = "online"

// run runs one command line. Rows go to out as they are ready, progress to words.
func run(args []string, out, words io.Writer) error {
	o, err := parse(args, os.Getenv("FOREWARM_DATA"))
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	var rows printer = &tables{out: out}
	if o.asJSON {
		rows = lines{out: out}
	}
	sets, traces, err := gather(o, words)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("Rscript"); err != nil && len(o.peers) > 0 {
		fmt.Fprintln(words, "R's methods are left out: no Rscript on PATH (Debian: r-cran-forecast, r-cran-prophet)")
		o.peers = nil
	}
	for _, s := range sets {
		if err := s.report(o, rows, words); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return scoreOnline(traces, o, rows, words)
}

// gather reads the sets that are wanted, and the traces for the rolling origin.
func gather(o options, words io.Writer) (sets []set, traces []demandtest.Recorded, err error) {
	if o.train != "" {
		m4, failed := m4Set(o.train, o.test)
		if failed != nil {
			return nil, nil, failed
		}
		sets = append(sets, m4)
	}
	if o.traces != "" {
		if traces, err = demandtest.Read(o.traces); err != nil {
			return nil, nil, err
		}
		found, leftOut := windowSets(traces)
		sets = append(sets, found...)
		if len(leftOut) > 0 {
			fmt.Fprintln(words, "left out, with less history than the horizon:", strings.Join(leftOut, ", "))
		}
	}
	sets = slices.DeleteFunc(sets, func(s set) bool { return !o.wants(s.name) })
	for i := range sets {
		sets[i] = sets[i].thinned(o.windows)
	}
	if !o.wants(online) {
		traces = nil
	}
	if len(sets)+len(traces) == 0 {
		return nil, nil, errors.New("no set to score: write parts of names in SETS, such as 'M4,taxi 1h,online'")
	}
	return sets, traces, nil
}

// report scores the models on a set, then what it is measured by, then the peers, and prints their rows.
func (s set) report(o options, rows printer, words io.Writer) error {
	yardstick, err := modelNamed(naive2)
	if err != nil {
		return err
	}
	said, left := s.ask(yardstick, io.Discard)
	measure := s.row(naive2, said, left)
	show := func(name string, answers []answer, err error) error {
		row := s.row(name, answers, err)
		row.OWA = owa(row, measure)
		return rows.score(row)
	}
	var whole []answer
	for _, model := range o.withYardsticks() {
		answers, left := s.ask(model, words)
		if err := show(model.name, answers, left); err != nil {
			return err
		}
		if model.name == defaultModel && left == nil {
			whole = answers
		}
	}
	for _, name := range o.peers {
		answers, left := s.askPeer(name, o, words)
		if err := show("R: "+name, answers, left); err != nil {
			return err
		}
	}
	if o.ablate && whole != nil {
		return s.ablate(whole, rows, words)
	}
	return nil
}

// cpu is the CPU time that the process has used, in all of its threads.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// progress prints the progress of a row at each 5 %.
func progress(words io.Writer, what string, done, all int) {
	if done == all || done*20/all != (done-1)*20/all {
		fmt.Fprintf(words, "%s: %d of %d\n", what, done, all)
	}
}
