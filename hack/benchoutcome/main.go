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
// What Forewarm knows of other workloads is learnt anew for each trace from the traces of other families (the first word of a
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
// With --json every setting of a policy on a trace is a line. --lines reads them instead of playing, and --compare prints the figures
// of an earlier run beside those of this one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/pflag"
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
	if err != nil || o.priors != "" {
		return err
	}
	return now.print(out, before)
}
