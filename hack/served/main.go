// Command served records what forewarm serves, for `make test-served`: of recorded workloads and of scenarios (package
// demandtest), by the server's own loop at its own step of 30 s, for the .95 quantile and for an objective of 1 %. A record
// holds hashes, as values that are floored are the demand itself. A change that is to leave the values alone is held to
// them; one that changes them says where.
//
//	check [NAME]               play and compare with the record; the first hour that differs is named
//	check --update [NAME]      write the record again
//	print NAME/REQUEST         every step of one play: time, observed, served; diff.sh compares it with another revision's
//	loss [NAME]                the pinball loss and the coverage of the quantile that is served of the recorded workloads
//	dips [NAME]                what minutes in which the source reads a part of the demand do to the value, of the recorded workloads
//
// The workloads are those of FOREWARM_DATA/outcome/series_15s and FOREWARM_DATA/outcome/workloads of a day and more: on a
// grid of 15 s, by straight lines, without noise, scaled to a mean of 12 replicas that sustain 1000 each, as a rate. In a
// scenario a replica sustains 100 of a gauge. The lead time is 5 m; everything else is as it is where the author of a
// Forecast says nothing. The objective knows an autoscaler; the quantile does not.
//
// Values count to nine digits. They depend neither on how many cores there are nor on the race detector, but on the
// processor: where multiplications and additions are fused (arm64, GOAMD64=v3) the last digits are others, and so, now and
// then, is what is chosen by them. The records are of amd64.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "served:", err)
		os.Exit(1)
	}
}

// options has the values of the flags.
type options struct {
	data, records string
	update        bool
	days, jobs    int
	// names has the names of plays (elb/quantile) or of histories (elb); empty means all.
	names []string
}

// length returns the length that is simulated; 0 means all.
func (o options) length() time.Duration { return time.Duration(o.days) * 24 * time.Hour }

const usage = "want check, print NAME/REQUEST, loss or dips, and then flags and names; see hack/served/doc.go"

// run runs the command line. Results go to out, and progress goes to progress.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	o, err := parse(args[1:])
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	switch args[0] {
	case "check":
		return check(ctx, o, out, progress)
	case "print":
		return printSteps(ctx, o, out)
	case "loss":
		return losses(ctx, o, out, progress)
	case "dips":
		return dipTable(ctx, o, out, progress)
	}
	return fmt.Errorf("%q: %s", args[0], usage)
}

func parse(args []string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("served", pflag.ContinueOnError)
	flags.StringVar(&o.data, "data", os.Getenv("FOREWARM_DATA"), "folder with outcome/series_15s and outcome/workloads")
	flags.StringVar(&o.records, "records", filepath.Join("hack", "served", "testdata"), "folder of the records")
	flags.BoolVar(&o.update, "update", false, "check: write the records again")
	flags.IntVar(&o.days, "days", 0, "play so many days of each history; 0 is all of it")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "check, loss: plays at once")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.names = flags.Args()
	switch {
	case o.jobs < 1 || o.days < 0:
		return o, fmt.Errorf("jobs %d, days %d: want 1 or more, and 0 or more", o.jobs, o.days)
	case o.update && o.days > 0:
		return o, errors.New("--update with --days: a record has whole histories, leave out --days")
	}
	return o, nil
}

// plays returns the recorded workloads, if their folder is known, and the scenarios. chosen has those that the command line selects.
func plays(o options, progress io.Writer) (all, chosen []play, err error) {
	var recorded []history
	if o.data == "" {
		fmt.Fprintln(progress, "FOREWARM_DATA is unset: the recorded workloads are not played")
	} else if recorded, err = recordedWorkloads(o.data); err != nil {
		return nil, nil, err
	}
	all = playsOf(append(recorded, madeScenarios()...))
	chosen, err = choose(all, o.names)
	return all, chosen, err
}

// choose finds plays by their own names or by the names of their histories.
func choose(all []play, names []string) ([]play, error) {
	if len(names) == 0 {
		return all, nil
	}
	var out []play
	for _, name := range names {
		before := len(out)
		for _, p := range all {
			if (p.String() == name || p.name == name) && !slices.ContainsFunc(out, p.same) {
				out = append(out, p)
			}
		}
		if len(out) == before {
			var known []string
			for _, p := range all {
				known = append(known, p.String())
			}
			return nil, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}

func (p play) same(other play) bool { return p.String() == other.String() }
