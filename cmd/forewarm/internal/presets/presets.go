// Package presets is the command "presets", which lists and explains the presets of demand signals, and prints the PromQL of one
// for a workload. It contacts no server.
package presets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/signal"
)

const about = `Presets lists the demand-signal presets, which you can use in spec.signal.preset of a Forecast.

Without an argument it prints a table of all presets. With a server (vllm), a signal (inflight) or a preset
(vllm/inflight) it explains what the value means, when not to use it, and which AverageValue target to set. It also
lists the signals that a server does not report, with the reason.

--render prints the PromQL of a preset for a workload. Use it to check the series in Prometheus before a Forecast
uses them, or as a starting point for your own query (spec.signal.query). The query returns one series: the total over the
workload's pods, which it finds through their owners. If the query returns no series, none of the pods reported.

Lateness presets (vllm/queue-time) do not measure demand. They measure the share of requests that waited longer than the
objective's wait (30s by default). Use them in spec.objective.measured.

To find the target, run "forewarm capacity": it estimates how much demand one replica sustains.

This command contacts no server and reads no kubeconfig.`

const examples = `  forewarm presets
  forewarm presets vllm
  forewarm presets --render vllm/inflight --target deployment/llama --namespace team
  forewarm presets --render dcgm/gpu-busy --target lws/llama-405b -n team
  forewarm presets inflight --json | jq -r '.[].name'`

// options has the values of the flags.
type options struct {
	render    string
	target    string
	namespace string
	step      time.Duration
	output    cmdline.Output
	trust     signal.Trust
}

// New is the command "presets".
func New() *cobra.Command {
	o := options{trust: signal.DefaultTrust()}
	cmd := &cobra.Command{
		Use:     "presets [SERVER | SIGNAL | SERVER/SIGNAL]",
		Short:   "List and explain the demand-signal presets",
		Long:    about,
		Example: examples,
		Args:    cmdline.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return cmdline.UsageError(err)
			}
			return run(&o, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.render, "render", "", "print the PromQL of a preset")
	flags.StringVar(&o.target, "target", "", "workload to render for, for example deployment/llama")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the workload")
	flags.DurationVar(&o.step, "step", signal.DefaultStep, "time between two samples")
	cmdline.AddTrustFlags(flags, &o.trust)
	o.output.AddFlags(flags, "print name, unit and PromQL (with placeholders if --target is not set)")
	return cmd
}

// validate returns every problem of a command line.
func (o *options) validate(args []string) error {
	problems := []error{o.trust.Validate()}
	if o.step < time.Second {
		problems = append(problems, fmt.Errorf("--step %s is below 1s, write for example 30s", o.step))
	}
	if o.render != "" && len(args) > 0 {
		problems = append(problems, fmt.Errorf("--render already names a preset: leave out %.200q", args[0]))
	}
	if o.render != "" {
		_, err := lookup(o.render)
		problems = append(problems, err)
	}
	switch {
	case o.target != "":
		_, err := cmdline.ParseTarget(o.target)
		problems = append(problems, err)
	case o.render != "" && !o.output.ForScripts():
		problems = append(problems, errors.New("--render needs a workload: set --target, for example deployment/llama"))
	case o.namespace != "":
		problems = append(problems,
			errors.New("--namespace is the namespace of --target: set --target, too, or leave out --namespace"))
	}
	if o.target != "" && o.render == "" && !o.output.ForScripts() {
		problems = append(problems, errors.New("--target is for --render, --json and -o yaml: add one of them"))
	}
	if o.target != "" && o.namespace == "" {
		problems = append(problems, errors.New("--target needs its namespace: set --namespace"))
	}
	return errors.Join(problems...)
}

// run prints one preset's query, the table, or the explanation of what a word selects.
func run(o *options, args []string, out io.Writer) error {
	if o.render != "" {
		return o.printRendered(out)
	}
	sources := signal.Sources()
	if len(args) > 0 {
		sources = selectSources(args[0])
	}
	if len(sources) == 0 {
		_, err := signal.Lookup(args[0])
		return cmdline.UsageError(err)
	}
	switch {
	case o.output.ForScripts():
		var presets []signal.Preset
		for _, s := range sources {
			presets = append(presets, s.Presets...)
		}
		return o.printEntries(presets, out)
	case len(args) == 0:
		return presetTable(out, sources)
	}
	return writeExplanation(out, sources)
}

// printRendered prints one preset's PromQL, formatted for people.
func (o *options) printRendered(out io.Writer) error {
	preset, err := lookup(o.render)
	if err != nil {
		return err
	}
	if o.output.ForScripts() {
		return o.printEntries([]signal.Preset{preset}, out)
	}
	expr, err := promql(o, preset)
	if err != nil {
		return err
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return fmt.Errorf("preset %s: %w", preset.Name, err)
	}
	_, err = fmt.Fprintln(out, parser.Prettify(root))
	return err
}

// lookup returns the preset to render, for demand or for lateness.
func lookup(name string) (signal.Preset, error) {
	if lateness, err := signal.LookupLateness(name, signal.DefaultWait); err == nil {
		return lateness, nil
	}
	return signal.Lookup(name)
}

// entry is a preset for scripts.
type entry struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	PromQL string `json:"promql"`
}

// printEntries prints presets for scripts, always as an array.
func (o *options) printEntries(presets []signal.Preset, out io.Writer) error {
	entries := make([]entry, len(presets))
	for i, p := range presets {
		expr, err := promql(o, p)
		if err != nil {
			return err
		}
		entries[i] = entry{Name: p.Name, Unit: p.Unit, PromQL: expr}
	}
	return o.output.Write(out, entries)
}

// promql returns the preset's query for the workload in the flags, or with the placeholders NAMESPACE and NAME.
func promql(o *options, p signal.Preset) (string, error) {
	namespace, target := o.namespace, signal.Target{Kind: "Deployment", Name: "NAME"}
	if o.target == "" {
		namespace = "NAMESPACE"
	} else {
		var err error
		if target, err = cmdline.ParseTarget(o.target); err != nil {
			return "", err
		}
	}
	return p.Every(o.step).Render(namespace, target, o.trust)
}

// selectSources returns the presets that a word selects: all presets of a server, all presets of a signal, or one preset.
func selectSources(word string) []signal.Source {
	var chosen []signal.Source
	for _, s := range signal.Sources() {
		if s.Name == word {
			return []signal.Source{s}
		}
		other := func(p signal.Preset) bool { return p.Name != word && p.Name != s.Name+"/"+word }
		s.Presets, s.Lateness = slices.DeleteFunc(s.Presets, other), slices.DeleteFunc(s.Lateness, other)
		s.Unsupported = slices.DeleteFunc(s.Unsupported, func(l signal.Unsupported) bool { return l.Signal != word })
		if len(s.Presets)+len(s.Lateness)+len(s.Unsupported) > 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// presetTable writes one line for each preset, and below them the signals that servers do not report.
func presetTable(out io.Writer, sources []signal.Source) error {
	var presets, missing [][]string
	var readings []signal.Reading
	for _, s := range sources {
		readings = append(readings, s.Readings()...)
		for _, p := range slices.Concat(s.Presets, s.Lateness) {
			presets = append(presets, []string{p.Name, p.Unit, metricKind(p), p.Brief})
		}
		for _, l := range s.Unsupported {
			missing = append(missing, []string{s.Name + "/" + l.Signal, l.Reason})
		}
	}
	tables := errors.Join(cmdline.Table(out, "PRESET\tUNIT\tKIND\tFOR", presets),
		cmdline.Table(out, "\nNOT REPORTED\tREASON", missing))
	_, err := fmt.Fprintf(out, "\nThe metric names were read in the projects' code on %s: "+
		"`forewarm presets SERVER` lists the commits.\n", lastRead(readings))
	return errors.Join(tables, err)
}

// lastRead returns the earliest day. All names have been read on that day or later.
func lastRead(readings []signal.Reading) string {
	return slices.MinFunc(readings, func(a, b signal.Reading) int { return strings.Compare(a.Date, b.Date) }).Date
}

// namesRead says when and at which commits the names of a source's metrics were read.
func namesRead(readings []signal.Reading) string {
	const digits = 12
	var commits []string
	for _, r := range readings {
		if at := r.Repository + "@" + r.Commit[:min(digits, len(r.Commit))]; !slices.Contains(commits, at) {
			commits = append(commits, at)
		}
	}
	return "Metric names read on " + lastRead(readings) + ": " + strings.Join(commits, ", ")
}

func metricKind(p signal.Preset) string {
	if p.Rate {
		return "rate"
	}
	return "gauge"
}

// writeExplanation writes all details about presets, grouped by server.
func writeExplanation(out io.Writer, sources []signal.Source) error {
	var text strings.Builder
	for i, s := range sources {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s: %s\n%s", s.Name, s.Title, printable.Wrap("", s.Note, "", cmdline.Page))
		for _, p := range slices.Concat(s.Presets, s.Lateness) {
			fmt.Fprintf(&text, "\n%s (%s, %s): %s\n%s", p.Name, p.Unit, metricKind(p), p.Brief,
				printable.Wrap("  ", p.Summary, "  ", cmdline.Page))
			if p.Target != "" {
				text.WriteString(printable.Wrap("  ", "Target: "+p.Target+".", "  ", cmdline.Page))
			}
		}
		for _, l := range s.Unsupported {
			fmt.Fprintf(&text, "\n%s/%s is not reported\n%s", s.Name, l.Signal,
				printable.Wrap("  ", l.Reason+".", "  ", cmdline.Page))
		}
		text.WriteString("\n" + printable.Wrap("", namesRead(s.Readings()), "", cmdline.Page))
	}
	_, err := io.WriteString(out, text.String())
	return err
}
