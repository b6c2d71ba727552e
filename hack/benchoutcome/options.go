package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// options are those of the command line.
type options struct {
	traces []string
	// leads are played one after the other.
	leads []compare.LeadTime
	// shipped: what Forewarm knows of other workloads is what it ships with. short: only it and the HPA are played.
	shipped, short, scheduled, asJSON bool
	// priors is a folder to write what is learnt to, instead of playing.
	priors string
	// lines is the file of an earlier run to read instead of playing, compare that of one to compare with.
	lines, compare string
	jobs           int
}

// parse reads the command line; data is the folder of the default, empty where there is none.
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
	flags.BoolVar(&o.asJSON, "json", false, "print a JSON object for every setting, before the tables")
	flags.StringVar(&o.priors, "priors", "",
		"fit the built-in priors to the traces and write them to this folder, instead of playing")
	flags.StringVar(&o.compare, "compare", "",
		"print the figures of an earlier run, whose output with --json is in this file, too")
	flags.StringVar(&o.lines, "lines", "",
		"read the output of an earlier run with --json from this file, instead of playing")
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

// complete reads the lead times and fills in the traces.
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

// leadOf reads 5m, or 5m,p90=8m.
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
