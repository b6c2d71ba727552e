// Package pause is the commands "pause" and "resume", which write or remove an annotation with the user's own rights.
package pause

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/kube/client"
)

const about = `%s

It takes effect within a second, and the HPA follows at its next sync (within 15 s). While a Forecast is paused, Forewarm
continues to learn from its demand. The command needs your own permission to get, list and patch forecasts.forewarm.dev.

With --server it changes the Forecasts of a standalone Forewarm until that process ends. It does not change their files.

Without a name, the command applies to all Forecasts of --namespace, or of all namespaces with --all-namespaces. Names are
looked up in --namespace, or in the namespace of your kubeconfig.

Exit codes:
  0  all Forecasts are in the requested state (with --dry-run, they would be)
  1  wrong usage, or the cluster cannot be reached or refuses the request
  2  there is no Forecast
  3  at least one Forecast could not be changed; the output lists it`

const examples = `  forewarm VERB -A
  forewarm VERB -n inference llama-inflight
  forewarm VERB -n inference --dry-run
  forewarm VERB --server http://127.0.0.1:8080 -n demo requests`

// options has the values of the flags.
type options struct {
	cmdline.Connection

	config client.PauseConfig
	all    bool
	output cmdline.Output
}

// New is the command "pause".
func New() *cobra.Command {
	return newCommand(
		&options{},
		"pause",
		"Serve the observed demand instead of the forecast, so that HPAs scale as they did before Forewarm",
		"Pause makes Forewarm serve the observed demand instead of the forecast, so that the HPA scales as your previous HPA\n"+
			"did (spec.scaling.before). It sets the annotation forewarm.dev/pause, which GitOps tools do not revert.",
	)
}

// NewResume is the command "resume".
func NewResume() *cobra.Command {
	return newCommand(&options{config: client.PauseConfig{Resume: true}}, "resume",
		"End a pause and serve the forecast again",
		"Resume removes the annotation forewarm.dev/pause, so that the forecast is served again.")
}

func newCommand(o *options, verb, short, what string) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb + " [NAME]...", Short: short, Long: fmt.Sprintf(about, what),
		Example: strings.ReplaceAll(examples, "VERB", verb),
		RunE: func(cmd *cobra.Command, names []string) error {
			o.config.Names = names
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return run(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.config.Namespace, "namespace", "n", "",
		"namespace of the Forecasts")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "all Forecasts in all namespaces")
	flags.BoolVar(&o.config.DryRun, "dry-run", false,
		"check with the server whether the change would work, and change nothing")
	o.output.AddFlags(flags, "print the result")
	o.AddFlags(flags)
	return cmd
}

func (o *options) validate() error {
	err, named := o.Validate(), len(o.config.Names) > 0
	switch {
	case err != nil:
	case o.all && (o.config.Namespace != "" || named):
		err = errors.New("--all-namespaces contradicts --namespace and names: keep one")
	case !named && o.config.Namespace == "" && !o.all:
		err = errors.New("no Forecast is given: write a NAME, --namespace or --all-namespaces")
	}
	return err
}

func run(ctx context.Context, o *options, out io.Writer) error {
	config, namespace, err := o.Config(ctx, "pause")
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	if !o.all {
		o.config.Namespace = cmp.Or(o.config.Namespace, namespace)
	}
	all, err := client.Pause(ctx, objects, o.config)
	if err != nil {
		return err
	}
	var lines [][]string
	failed := 0
	for _, r := range all {
		lines = append(lines, []string{r.Namespace, r.Name, strings.TrimSuffix(r.Result+": "+r.Message, ": ")})
		if r.Result == client.PauseFailed {
			failed++
		}
	}
	if o.output.ForScripts() {
		err = o.output.Write(out, map[string]any{"dryRun": o.config.DryRun, "forecasts": all})
	} else if len(all) > 0 {
		err = cmdline.Table(out, "NAMESPACE\tNAME\tRESULT", lines)
	}
	switch {
	case len(all) == 0:
		return cmdline.WithExitCode(cmdline.NotFound, errors.New("there is no Forecast"))
	case failed > 0:
		return cmdline.WithExitCode(cmdline.Findings,
			fmt.Errorf("%d of %d Forecasts could not be changed", failed, len(all)))
	}
	return err
}
