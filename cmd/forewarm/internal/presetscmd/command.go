// Package presetscmd is the command that lists the demand signals that forewarm knows, says what each is for and what its
// server lacks, and prints the PromQL of one for a workload. It asks no server.
package presetscmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/signal"
)

const about = `Presets lists the demand signals that Forewarm knows by name, for spec.signal.preset of a Forecast.

Without an argument it prints all of them in a table. With a server (vllm), a signal (inflight) or a preset
(vllm/inflight) it explains what the value means, when not to use it, and which AverageValue target to set. It names
what a server does not report, with the reason.

--render prints the PromQL of a preset for a workload. Use it to look at the series in Prometheus before a Forecast
depends on them, or as a start for your own query (spec.signal.query). The query yields one series: the total over the
workload's pods, which are found by their owners. No series means that none of the pods reported.

"forewarm capacity" estimates what one replica sustains, and so the target.

This command asks no server and reads no kubeconfig.`

const examples = `  forewarm presets
  forewarm presets vllm
  forewarm presets --render vllm/inflight --target deployment/llama --namespace team
  forewarm presets --render dcgm/gpu-busy --target lws/llama-405b -n team
  forewarm presets inflight --json | jq -r '.[].name'`

// options are the flags.
type options struct {
	render    string
	target    string
	namespace string
	json      bool
}

// New is the command "presets".
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "presets [SERVER | SIGNAL | SERVER/SIGNAL]",
		Short:   "List and explain the demand signals that Forewarm knows by name",
		Long:    about,
		Example: examples,
		Args:    exit.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return exit.Usage(err)
			}
			return o.run(args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.render, "render", "", "print the PromQL of that preset")
	flags.StringVar(&o.target, "target", "", "workload to render for, for example deployment/llama")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the workload")
	flags.BoolVar(&o.json, "json", false, "print name, unit and PromQL as JSON (without --target, with placeholders)")
	return cmd
}

// validate says everything that is wrong with a command line.
func (o *options) validate(args []string) error {
	var problems []error
	if o.render != "" && len(args) > 0 {
		problems = append(problems, fmt.Errorf("--render names a preset already, leave out %.200q", args[0]))
	}
	if o.render != "" {
		_, err := signal.Lookup(o.render)
		problems = append(problems, err)
	}
	switch {
	case o.target != "":
		_, err := cmdline.Target(o.target)
		problems = append(problems, err)
	case o.render != "" && !o.json:
		problems = append(problems, errors.New("set --target, the workload: for example deployment/llama"))
	case o.namespace != "":
		problems = append(problems, errors.New("--namespace is the target's, set --target too or leave it out"))
	}
	if o.target != "" && o.render == "" && !o.json {
		problems = append(problems, errors.New("--target is for --render and --json, add one of them"))
	}
	if o.target != "" && o.namespace == "" {
		problems = append(problems, errors.New("set --namespace, the target's"))
	}
	return errors.Join(problems...)
}

func (o *options) run(args []string, out io.Writer) error {
	if o.render != "" {
		return o.rendered(out)
	}
	if len(args) == 0 {
		if o.json {
			return o.list(signal.Presets(), out)
		}
		return table(out, signal.Sources())
	}
	sources := choose(args[0])
	if len(sources) == 0 {
		_, err := signal.Lookup(args[0])
		return exit.Usage(err)
	}
	if o.json {
		var presets []signal.Preset
		for _, s := range sources {
			presets = append(presets, s.Presets...)
		}
		return o.list(presets, out)
	}
	return explain(out, sources)
}

// rendered prints one preset's PromQL, broken into lines for people.
func (o *options) rendered(out io.Writer) error {
	preset, err := signal.Lookup(o.render)
	if err != nil {
		return err
	}
	if o.json {
		return o.list([]signal.Preset{preset}, out)
	}
	expr, err := o.promql(preset)
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

// entry is a preset as JSON.
type entry struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	PromQL string `json:"promql"`
}

// list prints presets as JSON: an array whatever their number.
func (o *options) list(presets []signal.Preset, out io.Writer) error {
	entries := make([]entry, len(presets))
	for i, p := range presets {
		expr, err := o.promql(p)
		if err != nil {
			return err
		}
		entries[i] = entry{Name: p.Name, Unit: p.Unit, PromQL: expr}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(entries)
}

// promql is the preset's query for the workload that the flags name, or else with NAMESPACE and NAME in their places.
func (o *options) promql(p signal.Preset) (string, error) {
	if o.target == "" {
		return p.Render("NAMESPACE", signal.Target{Kind: "Deployment", Name: "NAME"})
	}
	target, err := cmdline.Target(o.target)
	if err != nil {
		return "", err
	}
	return p.Render(o.namespace, target)
}

// width of a page, in characters.
const width = 100

// choose is the sources with those of their presets that a word names: all of a server's, all of a signal's, or one.
func choose(word string) []signal.Source {
	var chosen []signal.Source
	for _, s := range signal.Sources() {
		if s.Name == word {
			return []signal.Source{s}
		}
		s.Presets = slices.DeleteFunc(s.Presets, func(p signal.Preset) bool {
			return p.Name != word && p.Name != s.Name+"/"+word
		})
		s.Lacks = slices.DeleteFunc(s.Lacks, func(l signal.Lack) bool { return l.Signal != word })
		if len(s.Presets)+len(s.Lacks) > 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// table is one line for each preset, and below it what there is no preset for.
func table(out io.Writer, sources []signal.Source) error {
	tabs := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tabs, "PRESET\tUNIT\tKIND\tFOR")
	for _, s := range sources {
		for _, p := range s.Presets {
			fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\n", p.Name, p.Unit, kind(p), p.Brief)
		}
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tabs, "\nNOT REPORTED\tWHY")
	for _, s := range sources {
		for _, l := range s.Lacks {
			fmt.Fprintf(tabs, "%s/%s\t%s\n", s.Name, l.Signal, l.Reason)
		}
	}
	return tabs.Flush()
}

func kind(p signal.Preset) string {
	if p.Rate {
		return "rate"
	}
	return "gauge"
}

// explain says all that is known of presets, server by server.
func explain(out io.Writer, sources []signal.Source) error {
	var text strings.Builder
	for i, s := range sources {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s: %s\n%s", s.Name, s.Title, terminal.Wrap(s.Note, "", width))
		for _, p := range s.Presets {
			fmt.Fprintf(&text, "\n%s (%s, %s): %s\n%s%s", p.Name, p.Unit, kind(p), p.Brief,
				terminal.Wrap(p.Summary, "  ", width), terminal.Wrap("Target: "+p.Target+".", "  ", width))
		}
		for _, l := range s.Lacks {
			fmt.Fprintf(&text, "\n%s/%s is not reported\n%s", s.Name, l.Signal,
				terminal.Wrap(l.Reason+".", "  ", width))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
