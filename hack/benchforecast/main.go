// Command benchforecast scores the forecasting library on real data, for `make bench-forecast`: by the protocol of
// GIFT-Eval (Aksu et al. 2024) next to other methods, and live, by rolling origin.
//
// # Sets
//
// M4 hourly: the hourly series of the M4 competition (Makridakis, Spiliotis & Assimakopoulos 2020), one window each.
//
// Traces: every CSV file in a folder (package [demandtest]), at its own step and as means over 30 s, 1, 5, 10 and 60
// minutes where these are whole numbers of steps. The horizon is 48 steps, or 60 for steps below a minute (GIFT-Eval's
// short term), and ten times that (its medium term). Each column of n steps ends with max(1, min(20, ⌈n/10/horizon⌉))
// windows, for the n of the shortest column. A method is fitted to all values before its window. A set is left out if
// its history is shorter than its horizon.
//
// # Measures
//
// Every observed step of every window of a set counts once. The season is GluonTS's: a day, an hour for steps below a
// minute, one step if the history is no longer than that.
//
//	mase           mean absolute error of the median (mase_point: of the point forecast), divided by the window's
//	               scale: the mean absolute difference between values one season apart in its history
//	msis95         mean 95 % interval score, divided by the scale; a window with a scale of 0 counts in neither
//	wql            twice the sum of the pinball losses over the sum of |y|, averaged over the quantiles .1 … .9
//	smape, owa     of the median; owa is the mean of the ratios of mase and smape to those of Naive2
//	coverage80/95  share of values within the central interval
//	cpu_seconds_per_series  CPU time of the process for a fit and its forecast, including garbage collection
//
// If Rscript is installed, methods of R's packages forecast and prophet forecast the same windows from the newest
// --peer-history values, with gaps interpolated (except for prophet) and one season (MSTL and TBATS: two, auto.arima:
// none above 48 steps). If a method fails or needs more CPU than --peer-limit on any window, its row gives the reason.
//
// # Live
//
// The set "online": a model is fitted to at most 14 days, gets each further value by Update, and is fitted again every
// 6 hours. It begins a day after a trace's start, or after a quarter of the trace if that is earlier.
//
//	mae_ratio_last  mean absolute error of the point forecast, divided by that of the last value
//	p95_ratio_max5  mean pinball loss of the 95 % quantile, divided by that of the maximum of the last 5 values
//	p95_coverage    share of values at or below that quantile
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

func run(args []string, out, log io.Writer) error {
	o, err := parse(args, os.Getenv("FOREWARM_DATA"))
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	b := bench{options: o, out: out, log: log}
	sets, traces, err := b.read()
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("Rscript"); err != nil && len(b.peers) > 0 {
		fmt.Fprintln(log, "R's methods are left out: no Rscript on PATH (Debian: r-cran-forecast, r-cran-prophet)")
		b.peers = nil
	}
	for _, s := range sets {
		if err := b.scoreSet(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return b.scoreOnline(traces)
}

// options has the values of the flags.
type options struct {
	train, test, traces string
	models              []string
	asJSON              bool
	sets                []string // Parts of the names of the wanted sets.
	windows             int      // The maximum number of windows of each set; 0 means all.
	peers               []string
	history             int           // The number of newest values that a peer is fitted to.
	limit               time.Duration // The maximum CPU time of a peer on a window.
}

// parse reads the command line. By default, the files are those in the folder data.
func parse(args []string, data string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("benchforecast", pflag.ContinueOnError)
	m4 := filepath.Join(data, "m4", "hourly_even_")
	flags.StringVar(&o.train, "m4-train", m4+"train.csv.gz", "M4's training series, .csv or .csv.gz; empty: none")
	flags.StringVar(&o.test, "m4-test", m4+"test.csv.gz", "the values after them, of the same series")
	flags.StringVar(&o.traces, "traces", filepath.Join(data, "traces"), "folder of traces, .csv or .csv.gz, or empty")
	flags.StringSliceVar(&o.models, "model", []string{defaultModel}, "models: "+strings.Join(modelNames(), ", "))
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON object per line instead of the table")
	flags.StringSliceVar(&o.sets, "sets", nil, "parts of names of sets to score; none: all, and "+online+" last")
	flags.IntVar(&o.windows, "windows", 0, "maximum number of windows (series of M4) of a set, evenly spread; 0: all")
	flags.StringSliceVar(&o.peers, "peers", allPeers(), "R's methods to score too, if Rscript has them; empty: none")
	flags.IntVar(&o.history, "peer-history", 5000, "the newest values of a history that a peer is fitted to")
	flags.DurationVar(&o.limit, "peer-limit", 30*time.Second, "maximum CPU time of a peer's fit and forecast")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	named := flags.Changed("m4-train") && flags.Changed("m4-test") && flags.Changed("traces")
	if data == "" && !named {
		return o, errors.New("FOREWARM_DATA is unset: set it to the folder with m4 and traces, or name the files " +
			"(make bench-forecast M4_TRAIN=f M4_TEST=f TRACES=dir; empty for none)")
	}
	err := o.check()
	return o, err
}

// check returns everything that is wrong with the values.
func (o *options) check() error {
	var problems []error
	if (o.train == "") != (o.test == "") {
		problems = append(problems, errors.New("M4_TRAIN and M4_TEST belong together: set both, or both empty"))
	}
	if o.windows < 0 || o.history < 1 || o.limit <= 0 {
		problems = append(problems, fmt.Errorf("--windows %d, --peer-history %d, --peer-limit %s: "+
			"write 0 or more, 1 or more, more than 0", o.windows, o.history, o.limit))
	}
	known := func(kind string, names, all []string) {
		for _, name := range names {
			if !slices.Contains(all, name) {
				problems = append(problems, fmt.Errorf("unknown %s %q: write one of %v", kind, name, all))
			}
		}
	}
	known("peer", o.peers, allPeers())
	known("model", o.models, modelNames())
	return errors.Join(problems...)
}

func (o *options) wants(name string) bool {
	partOf := func(part string) bool { return strings.Contains(name, part) }
	return len(o.sets) == 0 || slices.ContainsFunc(o.sets, partOf)
}

// methods returns the models, the two methods with which every set is scored for comparison, and the peers.
func (o *options) methods() []string {
	out := slices.Clone(o.models)
	for _, name := range []string{seasonalNaive, naive2} {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, name := range o.peers {
		out = append(out, ofR+name)
	}
	return out
}

// bench is one run of the command: it prints rows to out as soon as they are ready, and its progress to log.
type bench struct {
	options
	out, log io.Writer
	heading  string // The last heading that the table printed.
}

// read reads the wanted sets, and the traces if the set "online" is wanted.
func (b *bench) read() (sets []set, traces []demandtest.Recorded, err error) {
	var all []set
	if b.train != "" {
		if all, err = m4Sets(b.train, b.test); err != nil {
			return nil, nil, err
		}
	}
	if b.traces != "" {
		if traces, err = demandtest.Read(b.traces); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range append(all, windowSets(traces)...) {
		switch {
		case !b.wants(s.name):
		case len(s.windows) == 0:
			fmt.Fprintln(b.log, s.name, "is left out: no history is as long as its horizon")
		default:
			sets = append(sets, s.thinned(b.windows))
		}
	}
	if !b.wants(online) {
		traces = nil
	}
	if len(sets)+len(traces) == 0 {
		return nil, nil, errors.New("no set to score: write parts of names in SETS, such as 'M4,taxi 1h,online'")
	}
	return sets, traces, nil
}

// row is printed as a JSON object, or as a line of the table under a heading.
type row interface{ table() (heading, line string) }

func (b *bench) print(r row) error {
	if b.asJSON {
		return json.NewEncoder(b.out).Encode(r)
	}
	heading, line := r.table()
	if heading != b.heading {
		fmt.Fprintln(b.out, "\n"+heading)
		b.heading = heading
	}
	_, err := fmt.Fprintln(b.out, line)
	return err
}

// progress logs the progress of a row at each 5 %.
func (b *bench) progress(of, name string, done, all int) {
	if done == all || done*20/all != (done-1)*20/all {
		fmt.Fprintf(b.log, "%s %s: %d of %d\n", of, name, done, all)
	}
}
