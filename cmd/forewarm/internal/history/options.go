// Package history has the flags by which a command is told where the history of a demand is, and reads it.
package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // The machine may have no time zone database.

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// Stdin is the name of a trace that comes on the standard input.
const Stdin = "-"

// Options say where the history is: a trace or a Prometheus.
type Options struct {
	// Trace is a file, Stdin the standard input; Column one of its value columns, empty where it has only one. The rest is what a file
	// does not tell of itself, see trace.Options: TimeZone, TimeColumn, TimeUnit and Decimal are empty, and the steps Resample, Count
	// and Sum 0, for what is to be seen in it.
	Trace, Column, TimeZone, TimeColumn, TimeUnit, Decimal string
	Resample, Count, Sum                                   model.Duration
	// Prometheus is queried for Query over Range at Step; End is RFC 3339, empty for now. QueryName names the query in messages; empty
	// for the query itself.
	Prometheus       prometheus.Config
	Query, QueryName string
	Range, Step      model.Duration
	End              string
	// QueryLater allows an empty Query: the command sets it before it reads the history.
	QueryLater bool
	// TrustInput takes values for a demand that look like none.
	TrustInput bool

	flags *pflag.FlagSet
}

// Defaults are the options of an empty command line.
func Defaults() Options {
	return Options{
		Prometheus: prometheus.Config{Timeout: 30 * time.Second}, Range: model.Duration(14 * 24 * time.Hour),
		Step: model.Duration(time.Minute),
	}
}

// AddFlags binds the options.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.flags = flags
	flags.StringVar(
		&o.Trace,
		"trace",
		o.Trace,
		"file with the demand, plain or compressed with gzip or zstd: CSV (a header row, then a time and values), one JSON object "+
			"per line, or JSON from Prometheus' query_range, from CloudWatch or from VictoriaMetrics' export; - reads stdin",
	)
	flags.StringVar(&o.Column, "column", o.Column, "column of the trace; optional if only one column contains numbers")
	flags.StringVar(&o.TimeColumn, "time-column", o.TimeColumn,
		"column with the times (default: the first column, or the only one that contains dates)")
	flags.StringVar(&o.TimeZone, "time-zone", o.TimeZone, "time zone of times without one, for example "+
		"Europe/Berlin (default UTC)")
	flags.StringVar(&o.TimeUnit, "time-unit", o.TimeUnit,
		"unit of numeric times: "+strings.Join(trace.TimeUnits(), ", ")+" (default: derived from their size)")
	flags.StringVar(&o.Decimal, "decimal", o.Decimal,
		"decimal separator in values, . or , (default: recognized from the values); the other of the two separates "+
			"thousands")
	flags.Var(&o.Count, "count", "for a trace with one row per event: count the rows in each step, for example 1m")
	flags.Var(&o.Sum, "sum", "for a trace with one row per event: add up the column in each step, for example 1m")
	flags.Var(&o.Resample, "resample",
		"convert an irregular trace to this step, for example 1m; each value is the mean of the "+
			"samples nearest to it (default: the trace's own step)")
	flags.StringVar(&o.Prometheus.URL, "prometheus", o.Prometheus.URL,
		"URL of the Prometheus, Thanos, Mimir or VictoriaMetrics to read the demand from")
	flags.StringVar(&o.Query, "query", o.Query, "PromQL query that returns a single series: the demand")
	flags.Var(&o.Range, "range", "how far back to read, for example 14d or 2w")
	flags.Var(&o.Step, "step", "time between two values of the query")
	flags.StringVar(&o.End, "end", o.End, "end of the range, for example 2026-01-31T00:00:00Z (default: now)")
	flags.DurationVar(&o.Prometheus.Timeout, "query-timeout", o.Prometheus.Timeout,
		"how long the query for one part of the range may take")
	cmdline.AddPrometheusFlags(flags, &o.Prometheus)
	flags.BoolVar(
		&o.TrustInput,
		"trust-input",
		o.TrustInput,
		"continue even if the values do not look like demand, for example if they look like a counter",
	)
}

// Validate returns every problem, each with what to write instead.
func (o *Options) Validate() error {
	switch {
	case o.Trace == "" && o.Prometheus.URL == "":
		return errors.New("no history is given: set --trace FILE.csv, or --prometheus URL with --query PROMQL")
	case o.Trace != "" && o.Prometheus.URL != "":
		return errors.New("--trace and --prometheus both define the history, keep one")
	case o.Trace != "":
		_, err := o.traceOptions()
		return errors.Join(err, o.RefuseFlags("--trace", func(name string) bool {
			return strings.HasPrefix(name, "prometheus") || name == "query" || name == "range" || name == "step" ||
				name == "end" || name == "query-timeout"
		}))
	}
	return errors.Join(o.validateQuery(), o.RefuseFlags("--prometheus", func(name string) bool {
		return slices.Contains([]string{
			"column", "time-column", "time-unit", "time-zone", "decimal", "resample", "count", "sum",
		}, name)
	}))
}

func (o *Options) validateQuery() error {
	problems := []error{o.Prometheus.Validate(), cmdline.CheckPrometheus(&o.Prometheus)}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if strings.TrimSpace(o.Query) == "" && !o.QueryLater {
		wrong("--prometheus needs a query, add for example --query 'sum(rate(requests_total[1m]))'")
	}
	if o.Prometheus.Timeout <= 0 {
		wrong("--query-timeout %s is not positive, write for example 30s", o.Prometheus.Timeout)
	}
	if o.Step <= 0 || o.Range < 2*o.Step {
		wrong("--range %s is shorter than two steps of --step %s, write for example 14d and 1m", o.Range, o.Step)
	}
	_, err := o.end(time.Time{})
	problems = append(problems, err)
	return errors.Join(problems...)
}

// RefuseFlags refuses flags that were set and say nothing of the history that is read: they were meant to.
func (o *Options) RefuseFlags(source string, unrelated func(name string) bool) error {
	var problems []error
	o.flags.VisitAll(func(flag *pflag.Flag) { // Visit does not know a flag set to which these flags were added.
		if flag.Changed && unrelated(flag.Name) {
			problems = append(problems, fmt.Errorf("--%s does not apply to %s, leave it out", flag.Name, source))
		}
	})
	return errors.Join(problems...)
}

// traceOptions returns the options for a trace.
func (o *Options) traceOptions() (trace.Options, error) {
	zone, err := o.zone()
	problems := []error{err}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.TimeUnit != "" && !slices.Contains(trace.TimeUnits(), o.TimeUnit) {
		wrong("--time-unit %.64q is not one of %s", o.TimeUnit, strings.Join(trace.TimeUnits(), ", "))
	}
	if o.Decimal != "" && o.Decimal != "." && o.Decimal != "," {
		wrong("--decimal %.64q is neither . nor ,", o.Decimal)
	}
	steps := 0
	for name, step := range map[string]model.Duration{"resample": o.Resample, "count": o.Count, "sum": o.Sum} {
		if step != 0 {
			steps++
		}
		if step < 0 || step != 0 && time.Duration(step) < time.Millisecond {
			wrong("--%s %s is not positive, write for example 1m", name, step)
		}
	}
	if steps > 1 {
		wrong("--resample, --count and --sum exclude each other: keep one")
	}
	return trace.Options{
		Zone: zone, TimeColumn: o.TimeColumn, TimeUnit: o.TimeUnit, Decimal: o.Decimal,
		Resample: time.Duration(o.Resample), Count: time.Duration(o.Count), Sum: time.Duration(o.Sum),
	}, errors.Join(problems...)
}

// zone returns the time zone for times that do not contain one; nil if none is given.
func (o *Options) zone() (*time.Location, error) {
	if o.TimeZone == "" {
		return nil, nil //nolint:nilnil // See above.
	}
	zone, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("--time-zone %.64q is not a time zone, write for example Europe/Berlin or UTC",
			o.TimeZone)
	}
	return zone, nil
}

// end returns the end of the range.
func (o *Options) end(now time.Time) (time.Time, error) {
	if o.End == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, o.End)
	if err != nil {
		return at, fmt.Errorf("--end %.64q is not a time, write for example 2026-01-31T00:00:00Z", o.End)
	}
	return at, nil
}
