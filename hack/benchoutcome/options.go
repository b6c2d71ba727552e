package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/workload"
)

// options are those of the command line.
type options struct {
	traces     []string
	lead, step time.Duration
	rivals     []rival
	asJSON     bool
	scheduled  bool
	cpu        bool
	ablation   bool
	priors     string
	// slower are longer steps at which forewarm is played too.
	slower []time.Duration
	jobs   int
	// models are forecasters whose maxima are features of forewarm's shape, without those of its features that are left out.
	models, without []string
}

// parse reads the command line; data is the folder of the default, empty where there is none.
func parse(args []string, data string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("benchoutcome", pflag.ContinueOnError)
	flags.StringSliceVar(&o.traces, "traces", nil, "folders of traces, .csv or .csv.gz (default: "+
		"FOREWARM_DATA/outcome/series_15s and FOREWARM_DATA/outcome/workloads)")
	flags.DurationVar(&o.lead, "lead", 5*time.Minute, "lead time of a pod")
	flags.DurationVar(&o.step, "step", workload.DefaultSync, "how often a policy is asked: a whole number of syncs")
	names := flags.StringSlice("policy", rivalNames(), "policies to play")
	flags.BoolVar(&o.asJSON, "json", false, "print a JSON object for every run, before the summary")
	flags.StringVar(
		&o.priors,
		"priors",
		"",
		"fit what forewarm ships to the traces and write it to this folder, instead of playing",
	)
	flags.BoolVar(&o.ablation, "ablation", false,
		"print what each feature and each model is worth to forewarm, instead of the policies")
	flags.StringSliceVar(&o.models, "models", []string{"arima"},
		"models whose forecasts are features of forewarm's: "+strings.Join(modelNames(), ", "))
	flags.StringSliceVar(&o.without, "without", nil,
		"features that forewarm does without: "+strings.Join(shape.Columns(), ", "))
	flags.BoolVar(&o.scheduled, "scheduled", true, "play made loads with a timetable too, in tables of their own")
	flags.DurationSliceVar(&o.slower, "slower", []time.Duration{2 * sync, 4 * sync},
		"longer steps at which forewarm is played too; those up to the step are passed over")
	flags.BoolVar(&o.cpu, "cpu", true, "measure the CPU time of one setting of every policy, one at a time")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "policies to play at once")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if len(o.traces) == 0 {
		if data == "" {
			return o, errors.New("no traces: say where they are (make bench-outcome TRACES=dir), or set FOREWARM_DATA")
		}
		for _, set := range []string{"series_15s", "workloads"} {
			o.traces = append(o.traces, filepath.Join(data, "outcome", set))
		}
	}
	err := o.complete(*names)
	return o, err
}

// complete finds the policies by their names and checks the rest.
func (o *options) complete(names []string) error {
	var problems []error
	if o.lead < 0 {
		problems = append(problems, fmt.Errorf("a lead time of %s, want 0 or more", o.lead))
	}
	if o.step < sync || o.step%sync != 0 {
		problems = append(problems, fmt.Errorf("a step of %s, want a whole number of %s", o.step, sync))
	}
	for _, step := range o.slower {
		if step < sync || step%sync != 0 {
			problems = append(problems, fmt.Errorf("slower %s, want a whole number of %s", step, sync))
		}
	}
	if o.jobs < 1 {
		problems = append(problems, fmt.Errorf("jobs %d, want 1 or more", o.jobs))
	}
	problems = append(problems, known("model", o.models, modelNames()), known("feature", o.without, shape.Columns()))
	for _, name := range names {
		found, err := rivalNamed(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		o.rivals = append(o.rivals, found)
	}
	return errors.Join(problems...)
}

func known(what string, names, valid []string) error {
	for _, name := range names {
		if !slices.Contains(valid, name) {
			return fmt.Errorf("%s %q, want one of %s", what, name, strings.Join(valid, ", "))
		}
	}
	return nil
}

func rivalNamed(name string) (rival, error) {
	for _, r := range rivals() {
		if r.name == name {
			return r, nil
		}
	}
	return rival{}, fmt.Errorf("policy %q, want one of %s", name, strings.Join(rivalNames(), ", "))
}

func rivalNames() []string {
	var names []string
	for _, r := range rivals() {
		names = append(names, r.name)
	}
	return names
}
