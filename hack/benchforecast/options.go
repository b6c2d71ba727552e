// Command benchforecast scores the forecasting library on two kinds of real data, for `make bench-forecast`: by the
// protocol of GIFT-Eval (Aksu et al. 2024), beside other methods, and live, by rolling origin.
//
// # Sets
//
// M4 hourly: the files of the M4 competition's hourly part (Makridakis, Spiliotis & Assimakopoulos 2020), one for training
// and one with the values after it: a window for each series.
//
// Traces: every CSV file in a folder (package [demandtest] reads them), by its own step and by the means of 30 s, 1, 5, 10 and
// 60 minutes where these are whole numbers of steps. The horizon is 48 steps, 60 below a minute (GIFT-Eval's short term), and
// ten times that (its medium term). The windows lie in the last tenth of a column, do not overlap, and are max(1, min(20,
// ⌈n/10/horizon⌉)) for the shortest of n steps. Each is fitted anew, to all that came before it. Where that is less than the
// horizon the set is left out, and named.
//
// # Measures
//
// Each takes every step of every window of a set as one. A step that was not observed counts nowhere.
//
//	mase           the mean absolute error of the median (mase_point: of the points) over the window's scale: the mean absolute
//	               difference a season apart in its history. The season is GluonTS's, a day, of steps below a minute an hour;
//	               one step where the history is no longer. A window with a scale of 0 counts in neither mase nor msis95, as
//	               GluonTS masks what it divides by 0. Gaps are passed over, where GluonTS would leave the window out.
//	msis95         the mean 95 % interval score over the window's scale
//	wql            twice the sum of the pinball losses over the sum of |y|, the mean of .1 … .9
//	smape, owa     of the median; owa is the mean of mase and smape over those of Naive2
//	coverage80/95  share of values within the central interval
//	cpu_seconds_per_series  the process's CPU time of a fit and its forecast, garbage collection included; one after the other
//
// Where Rscript has them, methods of R's package forecast and prophet are given the same windows: the newest --peer-history
// values, with gaps interpolated but for prophet, of one season (MSTL and TBATS: two, auto.arima: none from 49 steps on). Where
// one fails or needs more than --peer-limit of CPU on any window, it is left out of the set, with the reason.
//
// With --ablate the default model is scored without each kind of its candidates too: above 0 the kind is worth something.
//
// # Live
//
// The set "online": the first origin is a day after a trace's start, or a quarter of the trace where that is earlier; a model is
// fitted there to at most the last 14 days, gets each value by Update, and is refitted every 6 hours. At horizons of 1, 5, 10
// and 15 steps, for which the model is configured:
//
//	mae_ratio_last   the points' mean absolute error over that of the last value
//	p95_ratio_max5   the mean pinball loss, at 0.95, of the forecast of the 95 % quantile of the value at the horizon over
//	                 that of the maximum of the last 5 values in its place; p95_ratio_max15 likewise
//	p95_coverage     the share of values at or below that quantile; the table has all three for the window peak too
//
// The same files give the same figures, except for the CPU seconds and for prophet's draws.
package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

// options are the command line's flags.
type options struct {
	train, test, traces string
	models              []entry
	asJSON, ablate      bool
	budget              time.Duration
	// sets are parts of the names of those that are wanted, and windows is how many of each; 0 means all.
	sets    []string
	windows int
	// peers are fitted to the newest values of a history, and left out of a set where a fit takes more CPU than the limit.
	peers   []string
	history int
	limit   time.Duration
}

// parse reads the command line; data is the folder of the defaults, empty where there is none.
func parse(args []string, data string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("benchforecast", pflag.ContinueOnError)
	flags.StringVar(&o.train, "m4-train", "", "M4's training series, one a row, .csv or .csv.gz; empty: none")
	flags.StringVar(&o.test, "m4-test", "", "the values after them, of the same series")
	flags.StringVar(&o.traces, "traces", "", "folder of traces, .csv or .csv.gz; empty: none")
	names := flags.StringSlice("model", []string{defaultModel}, "models to score: "+strings.Join(modelNames(), ", "))
	flags.BoolVar(&o.asJSON, "json", false, "print a JSON object a line instead of the table")
	flags.DurationVar(&o.budget, "budget", 0, "score "+defaultModel+" a second time, with this budget for a fit")
	flags.StringSliceVar(&o.sets, "sets", nil, "parts of names of sets to score; none: all, and "+online+" last")
	flags.IntVar(&o.windows, "windows", 0, "score only so many windows (series of M4) of a set, evenly spread; 0: all")
	flags.BoolVar(&o.ablate, "ablate", false, "score "+defaultModel+" without each kind of its candidates too")
	flags.StringSliceVar(&o.peers, "peers", allPeers(), "R's methods to score too, where Rscript has them; empty: none")
	flags.IntVar(&o.history, "peer-history", 5000, "the newest values of a history that a peer is fitted to")
	flags.DurationVar(&o.limit, "peer-limit", 30*time.Second,
		"CPU time of a peer's fit and forecast; where one takes more, the peer is left out of the set")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for _, d := range []struct {
		flag, file string
		value      *string
	}{
		{"m4-train", "m4/hourly_even_train.csv.gz", &o.train},
		{"m4-test", "m4/hourly_even_test.csv.gz", &o.test},
		{"traces", "traces", &o.traces},
	} {
		if flags.Changed(d.flag) {
			continue
		}
		if data == "" {
			return o, fmt.Errorf("FOREWARM_DATA is unset: set it to the folder with %s, or name the files "+
				"(make bench-forecast M4_TRAIN=f M4_TEST=f TRACES=dir; empty for none)", d.file)
		}
		*d.value = filepath.Join(data, filepath.FromSlash(d.file))
	}
	err := o.complete(*names)
	return o, err
}

// complete finds the models by their names and checks the rest.
func (o *options) complete(names []string) error {
	var problems []error
	if (o.train == "") != (o.test == "") {
		problems = append(problems, errors.New("M4_TRAIN and M4_TEST belong together: set both, or both empty"))
	}
	if o.windows < 0 || o.history < 1 || o.limit <= 0 {
		problems = append(problems, fmt.Errorf("--windows %d, --peer-history %d, --peer-limit %s: "+
			"write 0 or more, 1 or more, more than 0", o.windows, o.history, o.limit))
	}
	for _, name := range o.peers {
		if !slices.Contains(allPeers(), name) {
			problems = append(problems, fmt.Errorf("unknown peer %q: write some of %v", name, allPeers()))
		}
	}
	if o.ablate && !slices.Contains(names, defaultModel) {
		names = append(names, defaultModel)
	}
	for _, name := range names {
		model, err := modelNamed(name)
		if err != nil {
			problems = append(problems, err)
		}
		o.models = append(o.models, model)
	}
	if o.budget > 0 {
		o.models = append(o.models, variant(", budget "+o.budget.String(), func(auto *ensemble.Auto) {
			auto.Budget = o.budget
		}))
	}
	return errors.Join(problems...)
}

// wants reports whether a set is to be scored.
func (o *options) wants(name string) bool {
	holds := func(part string) bool { return strings.Contains(name, part) }
	return len(o.sets) == 0 || slices.ContainsFunc(o.sets, holds)
}

// withYardsticks are the models, and after them the seasonal naive and Naive2 methods where they are not among them.
func (o *options) withYardsticks() []entry {
	out := slices.Clone(o.models)
	for _, e := range entries() {
		known := slices.ContainsFunc(out, func(of entry) bool { return of.name == e.name })
		if !known && (e.name == seasonalNaive || e.name == naive2) {
			out = append(out, e)
		}
	}
	return out
}
