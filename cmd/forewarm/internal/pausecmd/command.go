// Package pausecmd holds the commands that pause and resume Forecasts: they write or remove an annotation with the user's own rights.
package pausecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/printable"
)

// The exit codes beside 0 and exit.Failure.
const (
	codeNotFound = 2
	codeFailed   = 3
)

const about = `%s It takes effect within a second, and the
HPA follows at its next sync (15 s). Forewarm learns on while a Forecast is paused, and loses nothing.

It writes with your own rights: you need get, list and patch of forecasts.forewarm.dev. Without a name it takes all
Forecasts of --namespace, or of --all-namespaces.

Exit codes:
  0  all are as asked; with --dry-run, they could be
  1  wrong usage, or the cluster cannot be reached or refuses
  2  there is no such Forecast, or no Forecast at all
  3  at least one Forecast could not be changed; it is named`

// options are the flags.
type options struct {
	kubeconfig, context, namespace string
	timeout                        time.Duration
	all, json, dryRun              bool
}

// NewPause is the command "pause".
func NewPause() *cobra.Command {
	return newCommand(true, "Give autoscalers the observed demand, as before Forewarm",
		"Pause serves the observed demand instead of the forecast, with the headroom of the HPA before Forewarm\n"+
			"(spec.scaling.before), by the annotation forewarm.dev/pause, which GitOps does not revert.")
}

// NewResume is the command "resume".
func NewResume() *cobra.Command {
	return newCommand(false, "End a pause: serve the forecast again",
		`Resume removes the annotation forewarm.dev/pause, so that the forecast is served again.`)
}

func newCommand(pause bool, short, what string) *cobra.Command {
	var o options
	verb, _, _ := strings.Cut(strings.ToLower(what), " ")
	cmd := &cobra.Command{
		Use:     verb + " [NAMESPACE/NAME | NAME]...",
		Short:   short,
		Long:    fmt.Sprintf(about, what),
		Example: fmt.Sprintf("  forewarm %[1]s -A\n  forewarm %[1]s -n inference llama-inflight qwen-inflight\n  forewarm %[1]s -n inference --dry-run", verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return exit.Usage(err)
			}
			return o.run(cmd.Context(), pause, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the names, or whose Forecasts are all meant")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "all Forecasts of all namespaces")
	flags.BoolVar(&o.dryRun, "dry-run", false, "ask the cluster whether it would work, and change nothing")
	flags.BoolVar(&o.json, "json", false, "print the result as JSON")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the usual one")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig to use")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Second, "how long to wait for each answer of the cluster")
	return cmd
}

// validate returns every problem of a command line.
func (o *options) validate(args []string) error {
	var problems []error
	if o.all && (o.namespace != "" || len(args) > 0) {
		problems = append(problems, errors.New("--all-namespaces contradicts --namespace and names: keep one"))
	}
	if len(args) == 0 && o.namespace == "" && !o.all {
		problems = append(problems, errors.New("no Forecast is named: write NAMES, --namespace or --all-namespaces"))
	}
	if o.timeout <= 0 {
		problems = append(problems, fmt.Errorf("--timeout %s is not positive: write for example 10s", o.timeout))
	}
	for _, arg := range args {
		namespace, name, slash := strings.Cut(arg, "/")
		switch {
		case arg == "", slash && (namespace == "" || name == "" || strings.Contains(name, "/")):
			problems = append(problems, fmt.Errorf("%.200q is not a Forecast's name: write NAMESPACE/NAME or NAME", arg))
		case slash && o.namespace != "" && namespace != o.namespace:
			problems = append(problems, fmt.Errorf("%.200q contradicts --namespace: leave one out", arg))
		}
	}
	return errors.Join(problems...)
}

func (o *options) run(ctx context.Context, pause bool, args []string, out io.Writer) error {
	config, namespace, err := cmdline.LoadKubeconfig(ctx, o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	config.Timeout, config.QPS, config.UserAgent = o.timeout, 50, fieldManager
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	if o.namespace != "" {
		namespace = o.namespace
	}
	c := change{
		client: client.Resource(v1alpha1.GroupVersion().WithResource("forecasts")), pause: pause, dryRun: o.dryRun,
	}
	var done []result
	switch {
	case len(args) > 0:
		done = c.named(ctx, namespace, args)
	case o.all:
		done, err = c.listed(ctx, "")
	default:
		done, err = c.listed(ctx, namespace)
	}
	if err != nil {
		return err
	}
	if o.json {
		err = cmdline.WriteJSON(out, map[string]any{"dryRun": o.dryRun, "forecasts": done})
	} else if len(done) > 0 {
		err = write(out, done)
	}
	return errors.Join(err, verdict(done))
}

// write writes a table for people.
func write(out io.Writer, all []result) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tSTATE\tOBSERVED\tSERVES\tWILL SERVE\tRESULT")
	for i := range all {
		r := &all[i]
		cells := []string{r.Namespace, r.Name, r.State, r.Observed, r.Serves, r.WillServe, r.Result}
		if r.Error != "" {
			cells[len(cells)-1] += ": " + r.Error
		}
		for j, cell := range cells {
			if cells[j] = printable.Line(cell); cell == "" {
				cells[j] = "-"
			}
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// verdict is the error, with its exit code, that the results amount to.
func verdict(all []result) error {
	const most = 5
	var failed []string
	missing := len(all) > 0
	for i := range all {
		if r := &all[i]; r.Result == failedResult {
			failed = append(failed, r.Namespace+"/"+r.Name)
			missing = missing && r.missing
		}
	}
	switch n := len(failed); {
	case len(all) == 0:
		return exit.WithCode(codeNotFound, errors.New("there is no Forecast"))
	case n == 0:
		return nil
	default:
		code, names := codeFailed, strings.Join(failed[:min(most, n)], ", ")
		if n > most {
			names += fmt.Sprintf(" and %d more", n-most)
		}
		if missing && n == len(all) {
			code = codeNotFound
		}
		return exit.WithCode(code, fmt.Errorf("%d of %d Forecasts could not be changed: %s", n, len(all), names))
	}
}
