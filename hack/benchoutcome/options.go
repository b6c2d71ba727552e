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

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// options are those of the command line.
type options struct {
	traces []string
	// leads are played one after the other; lead is the one under way.
	leads     []lead
	lead      lead
	step      time.Duration
	policies  []benchPolicy
	asJSON    bool
	scheduled bool
	cpu       bool
	firstDay  bool
	ablation  bool
	priors    string
	// slower are longer steps at which forewarm is played too.
	slower []time.Duration
	jobs   int
	// lines is the file of an earlier run to read instead of playing, compare that of one to compare with.
	lines, compare string
	// models are those that the regression reads, without are the features that it leaves out.
	models, without []string
}

// parse reads the command line; data is the folder of the default, empty where there is none.
func parse(args []string, data string) (options, error) {
	var o options
	flags := pflag.NewFlagSet("benchoutcome", pflag.ContinueOnError)
	o.files(flags)
	leads := flags.String(
		"lead",
		"5m 2m 10m 5m,p90=8m",
		"lead times of a pod, each 5m or 5m,p90=8m (median 5m, one in ten starts over 8m, drawn with three "+
			"seeds); CPU time is measured with the first",
	)
	flags.DurationVar(&o.step, "step", hpasim.DefaultSync, "time between refreshes: a whole number of syncs")
	names := flags.StringSlice("policy", policyNames(), "policies to play")
	flags.BoolVar(&o.ablation, "ablation", false,
		"print what each feature and each model is worth, instead of playing the policies")
	flags.StringSliceVar(&o.models, "models", []string{"arima"},
		"models that the regression reads: "+strings.Join(modelNames(), ", "))
	flags.StringSliceVar(&o.without, "without", nil,
		"features to leave out of the regression: "+strings.Join(windowpeak.BaseFeatureNames(), ", "))
	flags.BoolVar(&o.scheduled, "scheduled", true, "also play synthetic loads with a timetable")
	flags.DurationSliceVar(&o.slower, "slower", []time.Duration{2 * sync, 4 * sync},
		"longer times between refreshes to play forewarm with; those up to the step are skipped")
	flags.BoolVar(&o.firstDay, "first-day", true, "also count the first 24 h of each trace by themselves")
	flags.BoolVar(&o.cpu, "cpu", true, "measure the CPU time of one setting of every policy")
	short := flags.Bool("short", false, "play only stock300, reactive-tuned and forewarm with a lead time of 5m")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "policies to play at once")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *short {
		if err := shorten(flags); err != nil {
			return o, err
		}
	}
	if len(o.traces) == 0 && o.lines == "" {
		if data == "" {
			return o, errors.New(
				"no traces: name their folders (make bench-outcome TRACES=dir,dir), or set FOREWARM_DATA",
			)
		}
		for _, set := range []string{"series_15s", "workloads"} {
			o.traces = append(o.traces, filepath.Join(data, "outcome", set))
		}
	}
	err := o.complete(*names, strings.Fields(*leads))
	return o, err
}

// files adds the flags of files.
func (o *options) files(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.traces, "traces", nil, "folders of traces, .csv or .csv.gz (default: "+
		"FOREWARM_DATA/outcome/series_15s and FOREWARM_DATA/outcome/workloads)")
	flags.StringVar(&o.priors, "priors", "",
		"fit the built-in priors to the traces and write them to this folder, instead of playing")
	flags.BoolVar(&o.asJSON, "json", false, "print a JSON object for every run, before the summary")
	flags.StringVar(&o.compare, "compare", "",
		"compare forewarm's cost with an earlier run, whose output with --json is in this file")
	flags.StringVar(&o.lines, "lines", "",
		"read the output of an earlier run with --json from this file, instead of playing")
}

// shorten sets the flags that are not set so that a run takes minutes.
func shorten(flags *pflag.FlagSet) error {
	for name, value := range map[string]string{
		"policy": "stock300,reactive-tuned,forewarm", "lead": "5m", "slower": "15s", "scheduled": "false", "cpu": "false",
	} {
		if flags.Changed(name) {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("--short: %w", err)
		}
	}
	return nil
}

// complete finds the policies by their names and checks the rest.
func (o *options) complete(names, leads []string) error {
	var problems []error
	for _, text := range leads {
		l, err := leadOf(text)
		o.leads, problems = append(o.leads, l), append(problems, err)
	}
	if len(leads) == 0 {
		problems = append(problems, errors.New("no lead time, want at least one"))
	}
	if o.step < sync || o.step%sync != 0 {
		problems = append(problems, fmt.Errorf("step of %s, want a whole number of %s", o.step, sync))
	}
	for _, step := range o.slower {
		if step < sync || step%sync != 0 {
			problems = append(problems, fmt.Errorf("slower %s, want a whole number of %s", step, sync))
		}
	}
	if o.jobs < 1 {
		problems = append(problems, fmt.Errorf("jobs %d, want 1 or more", o.jobs))
	}
	problems = append(
		problems,
		checkNames("model", o.models, modelNames()),
		checkNames("feature", o.without, windowpeak.BaseFeatureNames()),
	)
	for _, name := range names {
		found, err := policyNamed(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		o.policies = append(o.policies, found)
	}
	return errors.Join(problems...)
}

func checkNames(what string, names, valid []string) error {
	for _, name := range names {
		if !slices.Contains(valid, name) {
			return fmt.Errorf("%s %q, want one of %s", what, name, strings.Join(valid, ", "))
		}
	}
	return nil
}

func policyNamed(name string) (benchPolicy, error) {
	for _, r := range benchPolicies() {
		if r.name == name {
			return r, nil
		}
	}
	return benchPolicy{}, fmt.Errorf("policy %q, want one of %s", name, strings.Join(policyNames(), ", "))
}

func policyNames() []string {
	var names []string
	for _, r := range benchPolicies() {
		names = append(names, r.name)
	}
	return names
}
