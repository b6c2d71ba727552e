// Package pausecmd holds the commands that pause and resume Forecasts: they write or remove an annotation with the user's own rights.
package pausecmd

import (
	"cmp"
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
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

// The exit codes beside 0 and exit.Failure.
const (
	codeNone   = 2
	codeFailed = 3
)

const about = `%s

It takes effect within a second, and the HPA follows at its next sync (15 s). Forewarm learns on while a Forecast is
paused, and loses nothing. It writes with your own rights: get, list and patch of forecasts.forewarm.dev.

Without a name it takes all Forecasts of --namespace, or of --all-namespaces. Of names, the namespace is --namespace or
that of the kubeconfig.

Exit codes:
  0  all are as asked; with --dry-run, they would be
  1  wrong usage, or the cluster cannot be reached or refuses
  2  there is no Forecast
  3  at least one Forecast could not be changed; it is named`

const examples = `  forewarm VERB -A
  forewarm VERB -n inference llama-inflight
  forewarm VERB -n inference --dry-run`

// options are the flags.
type options struct {
	kubeconfig, context, namespace string
	all, dryRun                    bool
	output                         cmdline.Output
}

// NewPause is the command "pause".
func NewPause() *cobra.Command {
	return newCommand("pause", "Give autoscalers the observed demand, as before Forewarm",
		"Pause serves the observed demand instead of the forecast, with the headroom of the HPA before Forewarm\n"+
			"(spec.scaling.before). It sets the annotation forewarm.dev/pause, which GitOps does not revert.")
}

// NewResume is the command "resume".
func NewResume() *cobra.Command {
	return newCommand("resume", "End a pause: serve the forecast again",
		"Resume removes the annotation forewarm.dev/pause, so that the forecast is served again.")
}

func newCommand(verb, short, what string) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: verb + " [NAME]...", Short: short, Long: fmt.Sprintf(about, what),
		Example: strings.ReplaceAll(examples, "VERB", verb),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := o.validate(names); err != nil {
				return exit.Usage(err)
			}
			return o.run(cmd.Context(), verb == "pause", names, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the names, or whose Forecasts are all meant")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "all Forecasts of all namespaces")
	flags.BoolVar(&o.dryRun, "dry-run", false, "ask the cluster whether it would work, and change nothing")
	o.output.AddFlags(flags, "print the result")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the usual one")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig to use")
	return cmd
}

// validate returns what is wrong with a command line.
func (o *options) validate(names []string) error {
	switch {
	case o.all && (o.namespace != "" || len(names) > 0):
		return errors.New("--all-namespaces contradicts --namespace and names: keep one")
	case len(names) == 0 && o.namespace == "" && !o.all:
		return errors.New("no Forecast is named: write a NAME, --namespace or --all-namespaces")
	}
	return nil
}

func (o *options) run(ctx context.Context, pause bool, names []string, out io.Writer) error {
	config, namespace, err := cmdline.LoadKubeconfig(ctx, o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	config.Timeout, config.QPS, config.UserAgent = 10*time.Second, 50, fieldManager
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	if namespace = cmp.Or(o.namespace, namespace); o.all {
		namespace = ""
	}
	resource := client.Resource(v1alpha1.GroupVersion().WithResource("forecasts"))
	c := change{client: resource, pause: pause, dryRun: o.dryRun}
	var all []result
	if len(names) > 0 {
		all = c.named(ctx, namespace, names)
	} else if all, err = c.listed(ctx, namespace); err != nil {
		return err
	}
	if o.output.ForScripts() {
		err = o.output.Write(out, map[string]any{"dryRun": o.dryRun, "forecasts": all})
	} else if len(all) > 0 {
		err = write(out, all)
	}
	return errors.Join(err, verdict(all))
}

// write writes a table for people.
func write(out io.Writer, all []result) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tSTATE\tOBSERVED\tSERVED\tWILL SERVE\tRESULT")
	for _, r := range all {
		cells := []string{
			r.Namespace, r.Name, r.State, r.Observed, r.Served, r.WillServe,
			strings.TrimSuffix(r.Result+": "+r.Error, ": "),
		}
		for i := range cells {
			cells[i] = cmp.Or(printable.Line(cells[i]), humanize.Unknown)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// verdict is the error, with its exit code, that the results amount to.
func verdict(all []result) error {
	var failed []string
	for _, r := range all {
		if r.Error != "" {
			failed = append(failed, r.Namespace+"/"+r.Name)
		}
	}
	switch n := len(failed); {
	case len(all) == 0:
		return exit.WithCode(codeNone, errors.New("there is no Forecast"))
	case n > 0:
		names := strings.Join(failed[:min(5, n)], ", ") // The table has all.
		return exit.WithCode(codeFailed, fmt.Errorf("%d of %d Forecasts could not be changed: %s", n, len(all), names))
	}
	return nil
}
