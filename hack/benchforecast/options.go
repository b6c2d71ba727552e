package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// options are the command line's flags.
type options struct {
	train, test, traces string
	models              []entry
	asJSON, speed, r    bool
	each                bool
	budget              time.Duration
	jobs                int
}

// parse reads the command line; data is the folder of the defaults, empty where there is none.
func parse(args []string, data string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("benchforecast", pflag.ContinueOnError)
	flags.StringVar(&o.train, "m4-train", "",
		"training series of the M4 competition, one a row, .csv or .csv.gz; empty: none")
	flags.StringVar(&o.test, "m4-test", "", "the values after them, of the same series")
	flags.StringVar(&o.traces, "traces", "", "folder of traces, .csv or .csv.gz; empty: none")
	names := flags.StringSlice("model",
		[]string{defaultModel},
		"models to score: "+strings.Join(modelNames(), ", "),
	)
	flags.BoolVar(&o.asJSON, "json", false, "print a JSON object a line instead of the table")
	flags.DurationVar(&o.budget, "budget", 0, "score "+defaultModel+" a second time, with this budget for a fit")
	flags.BoolVar(&o.each, "each", false, "print the score of each M4 series with the progress")
	flags.BoolVar(&o.speed, "speed", true, "measure the speed of fits and updates too (table only)")
	flags.BoolVar(&o.r, "r", true, "score R's package forecast too, where Rscript has it (table only)")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "folds of a trace to compute at once")
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
	if o.jobs < 1 {
		problems = append(problems, fmt.Errorf("--jobs %d: write 1 or more", o.jobs))
	}
	for _, name := range names {
		model, err := modelNamed(name)
		if err != nil {
			problems = append(problems, err)
		}
		o.models = append(o.models, model)
	}
	if o.budget > 0 {
		o.models = append(o.models, withBudget(o.budget))
	}
	return errors.Join(problems...)
}
