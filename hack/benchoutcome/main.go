// Command benchoutcome measures Forewarm and other policies on recorded demand, for `make bench-outcome`: the GPU-hours that are
// paid for and the share of the demand that is late. It is a table over package [compare], which `forewarm simulate` runs too: the
// server's own steps, a stock HPA, pods that take their lead time to start. What a user runs is what is measured here.
//
// Every value column of every CSV file in some folders is a trace (package [demandtest] reads them), scaled to a mean of 12 replicas. The
// first 48 hours are a warm-up and do not count; of a trace shorter than four days, the first tenth. The first 24 h are also counted
// by themselves. Traces shorter than a day are left out.
//
// Each lead time is played in turn. With starts that vary (5m,p90=8m: log-normal), a figure is the mean of three draws: the n-th pod
// that a policy starts at a time takes as long as the n-th of every other policy at that time.
//
// What Forewarm knows of other workloads is learned again for each trace from the traces of other families (the first word of a
// trace's name without its number, or the collection that it is from). With --shipped it is what Forewarm ships with: for workloads
// that it was not made from.
//
// The HPA of other policies has the default scale-down (stabilization of 5 minutes) and its best target in hindsight; Forewarm's has
// a stabilization of 0 and the full capacity of a replica as its target. A request that waits longer than 30 s is late.
//
// The figures of a run, one trace under one objective, are
//
//	regret      cost over that of the constant headroom that is cheapest in hindsight and no later than asked, where Forewarm is
//	            no later than asked
//	over, under the share late is over 1.3 times, or under a third of what was asked
//	HPA         cost over that of the HPA with its best target, at no more lateness than was asked or got
//
// With --bad-hours Forewarm's objectives limit bad hours, and in every figure the share of the demand that arrived in bad hours stands
// in place of the share that was late.
//
// With --json every setting of a policy on a trace is a line. --lines reads them instead of playing, and --compare prints the figures
// of an earlier run next to those of this one.
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
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchoutcome:", err)
		os.Exit(1)
	}
}

// run runs the command line. Lines and tables go to out, progress to progress.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
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
		now, err = play(ctx, o, out, progress)
	}
	if err != nil || o.priors != "" || o.levers {
		return err
	}
	if o.badHours {
		now, before = now.byBadHours(), before.byBadHours()
	}
	return now.print(out, before)
}

// options has the values of the flags.
type options struct {
	traces []string
	// leads are simulated one after the other.
	leads []compare.LeadTime
	// shipped uses the built-in priors of Forewarm. short simulates only Forewarm and the HPA.
	shipped, short, scheduled, asJSON bool
	// levers simulates other ways to save cost instead.
	levers bool
	// priors is a folder into which the learned priors are written, instead of a simulation.
	priors string
	// lines is the file of an earlier run to read instead of a simulation, and compare is the file of a run for comparison.
	lines, compare string
	jobs           int
	// badHours is true if Forewarm's objectives limit bad hours and every policy is judged by bad hours.
	badHours bool
	// deferrable is the share of the demand that may wait until a deadline.
	deferrable float64
	deadline   time.Duration
}

// parse reads the command line. data is the default folder, or empty if there is none.
func parse(args []string, data string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("benchoutcome", pflag.ContinueOnError)
	flags.StringSliceVar(&o.traces, "traces", nil, "folders of traces, .csv or .csv.gz (default: "+
		"FOREWARM_DATA/outcome/series_15s and FOREWARM_DATA/outcome/workloads)")
	leads := flags.String("lead", "5m,p90=8m 5m 2m 10m",
		"lead times of a pod, each 5m or 5m,p90=8m (median 5m, one in ten starts over 8m)")
	flags.BoolVar(&o.shipped, "shipped", false,
		"play Forewarm with the priors that it ships with: for workloads of others")
	flags.BoolVar(&o.short, "short", false, "play only Forewarm and the HPA, with the first lead time")
	flags.BoolVar(&o.scheduled, "scheduled", true, "also play synthetic loads with a timetable")
	flags.BoolVar(
		&o.levers,
		"levers",
		false,
		"play what saves in addition to the forecast instead: variants of a workload",
	)
	flags.BoolVar(&o.asJSON, "json", false, "print a JSON object for every setting, before the tables")
	flags.BoolVar(
		&o.badHours,
		"bad-hours",
		false,
		"objectives limit the demand that arrives in bad hours, of which more than a tenth "+
			"is late, and every policy is judged by them",
	)
	flags.StringVar(&o.priors, "priors", "",
		"fit the built-in priors to the traces and write them to this folder, instead of playing")
	flags.StringVar(&o.compare, "compare", "",
		"print the figures of an earlier run, whose output with --json is in this file, too")
	flags.StringVar(&o.lines, "lines", "",
		"read the output of an earlier run with --json from this file, instead of playing")
	flags.Float64Var(&o.deferrable, "deferrable", 0, "share of the demand that may wait until --deadline")
	flags.DurationVar(&o.deadline, "deadline", 10*time.Minute, "how long it may wait")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "traces to play at once")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	err := o.complete(strings.Fields(*leads), data)
	return o, err
}

// complete reads the lead times and sets the traces.
func (o *options) complete(leads []string, data string) error {
	if len(o.traces) == 0 && o.lines == "" {
		if data == "" {
			return errors.New("no traces: name their folders (make bench-outcome TRACES=dir,dir), or set FOREWARM_DATA")
		}
		for _, set := range []string{"series_15s", "workloads"} {
			o.traces = append(o.traces, filepath.Join(data, "outcome", set))
		}
	}
	var problems []error
	for _, text := range leads {
		l, err := leadOf(text)
		o.leads, problems = append(o.leads, l), append(problems, err)
	}
	if len(o.leads) == 0 {
		problems = append(problems, errors.New("no lead time, want at least one"))
	}
	if o.jobs < 1 {
		problems = append(problems, fmt.Errorf("jobs %d, want 1 or more", o.jobs))
	}
	if o.short && len(o.leads) > 1 {
		o.leads = o.leads[:1]
	}
	if o.priors != "" {
		o.leads, o.scheduled, o.shipped = priorLeads(), false, false
	}
	return errors.Join(problems...)
}

// leadOf parses 5m, or 5m,p90=8m.
func leadOf(text string) (compare.LeadTime, error) {
	median, rest, varies := strings.Cut(text, ",")
	var l compare.LeadTime
	var err error
	if l.Median, err = time.ParseDuration(median); err != nil || l.Median < 0 {
		return l, fmt.Errorf("lead time of %s, want for example 5m, or 5m,p90=8m", text)
	}
	if !varies {
		return l, nil
	}
	value, named := strings.CutPrefix(rest, "p90=")
	if l.P90, err = time.ParseDuration(value); err != nil || !named || l.P90 <= l.Median || l.Median == 0 {
		return l, fmt.Errorf("lead time of %s, want a p90 that is longer, for example 5m,p90=8m", text)
	}
	return l, nil
}
