// Package history has the flags by which a command is told where the history of a demand is, and reads it.
package history

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // A machine may have no time zones of its own.

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Stdin is the name of a trace that comes on the standard input.
const Stdin = "-"

// Options say where the history is: a trace or a Prometheus.
type Options struct {
	// Trace is a file, Stdin the standard input; Column one of its value columns, empty where it has only one. TimeZone is
	// that of its times without one, empty for UTC; Resample the step that it is laid on, 0 for its own.
	Trace, Column, TimeZone string
	Resample                model.Duration
	// Prometheus is asked for Query over Range at Step; End is RFC 3339, empty for now.
	Prometheus  prometheus.Config
	Query       string
	Range, Step model.Duration
	End         string

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
	flags.StringVar(&o.Trace, "trace", o.Trace,
		"file of the demand, plain or gzipped: a CSV (a header, then a time and "+
			"values), or the JSON of a Prometheus' query_range; - reads stdin")
	flags.StringVar(&o.Column, "column", o.Column, "column of the trace; optional if it has only one")
	flags.StringVar(&o.TimeZone, "time-zone", o.TimeZone, "zone of the trace's times that name none, for example "+
		"Europe/Berlin (default UTC)")
	flags.Var(&o.Resample, "resample",
		"lay an irregular trace on this step, for example 1m; each value is the mean of the "+
			"samples nearest to it (default: the trace's own step)")
	flags.StringVar(&o.Prometheus.URL, "prometheus", o.Prometheus.URL,
		"Prometheus, Thanos, Mimir or VictoriaMetrics to read the demand from")
	flags.StringVar(&o.Query, "query", o.Query, "PromQL that yields one series: the demand")
	flags.Var(&o.Range, "range", "how far back to read, for example 14d or 2w")
	flags.Var(&o.Step, "step", "distance between two values of the query")
	flags.StringVar(&o.End, "end", o.End, "end of the range, for example 2026-01-31T00:00:00Z (default now)")
	flags.DurationVar(&o.Prometheus.Timeout, "query-timeout", o.Prometheus.Timeout,
		"how long the Prometheus may take for one piece of the range")
	cmdline.AddPrometheusFlags(flags, &o.Prometheus)
}

// Validate returns every problem, each with what to write instead.
func (o *Options) Validate() error {
	switch {
	case o.Trace == "" && o.Prometheus.URL == "":
		return errors.New("no history is given: set --trace FILE.csv, or --prometheus URL with --query PROMQL")
	case o.Trace != "" && o.Prometheus.URL != "":
		return errors.New("--trace and --prometheus are two histories, keep one")
	case o.Trace != "":
		_, err := o.zone()
		return errors.Join(err, o.RefuseFlags("--trace", func(name string) bool {
			return strings.HasPrefix(name, "prometheus") || name == "query" || name == "range" || name == "step" ||
				name == "end" || name == "query-timeout"
		}))
	}
	return errors.Join(o.validateQuery(), o.RefuseFlags("--prometheus", func(name string) bool {
		return name == "column" || name == "time-zone" || name == "resample"
	}))
}

func (o *Options) validateQuery() error {
	problems := []error{o.Prometheus.Validate(), cmdline.CheckPrometheus(&o.Prometheus)}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if strings.TrimSpace(o.Query) == "" {
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
func (o *Options) RefuseFlags(source string, foreign func(name string) bool) error {
	var problems []error
	o.flags.VisitAll(func(flag *pflag.Flag) { // Visit knows nothing of a set that these were added to.
		if flag.Changed && foreign(flag.Name) {
			problems = append(problems, fmt.Errorf("--%s does not apply to %s, leave it out", flag.Name, source))
		}
	})
	return errors.Join(problems...)
}

// zone is that of times without one; nil where none is named.
func (o *Options) zone() (*time.Location, error) {
	if o.TimeZone == "" {
		return nil, nil //nolint:nilnil // See above.
	}
	zone, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("--time-zone %.64q is no time zone, write for example Europe/Berlin or UTC", o.TimeZone)
	}
	return zone, nil
}

// end is where the range ends.
func (o *Options) end(now time.Time) (time.Time, error) {
	if o.End == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, o.End)
	if err != nil {
		return at, fmt.Errorf("--end %.64q is no time, write for example 2026-01-31T00:00:00Z", o.End)
	}
	return at, nil
}
