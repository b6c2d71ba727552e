// Package initcmd is the command "init": Forecasts to commit, for workloads that are there, by their autoscalers and the
// series that their servers report.
package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
	"github.com/forewarm/forewarm/pkg/signal"
)

const about = `Init writes Forecasts in shadow mode, to read and commit: one for each workload that an HPA or a ScaledObject
scales or that has GPUs. Comments in them give the reasons.

It reads a cluster with your own rights, or manifests (--file). The preset is that of the one server whose series of the
workload's pods the Prometheus has. With series of several servers, or of none, there is no Forecast, and the output says
what to look at. The targets are those of the autoscaler where they are in the preset's unit.

--simulate takes the autoscaler's target for what a replica sustains, as "forewarm simulate" does.

The YAML goes to stdout, or with --out into a file for each Forecast; a summary goes to stderr. Without --apply nothing is
changed in the cluster. A Forecast that is there is never changed.`

const examples = `  forewarm init --prometheus http://127.0.0.1:9090 -n inference > forecasts.yaml
  forewarm init --prometheus http://127.0.0.1:9090 -A --simulate --out forecasts
  forewarm init --prometheus http://127.0.0.1:9090 --file manifests --json | jq '.workloads[] | select(.leftOut)'`

// options are the flags.
type options struct {
	kubeconfig, context, namespace, file, out string
	history                                   history.Options
	trust                                     signal.Trust
	timeout, lead                             time.Duration
	all, force, simulate, apply, quiet        bool
	output                                    cmdline.Output
}

// New is the command "init".
func New() *cobra.Command {
	o := &options{history: history.Defaults(), trust: signal.DefaultTrust()}
	cmd := &cobra.Command{
		Use:     "init --prometheus URL",
		Short:   "Write Forecasts for the workloads that are there, to read and commit",
		Long:    about,
		Example: examples,
		Args:    exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return exit.Usage(err)
			}
			err := o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			if cmd.Context().Err() != nil {
				return exit.WithCode(exit.Interrupted, err)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace to read; with --file that of manifests without one")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "read all namespaces")
	flags.StringVarP(&o.file, "file", "f", "", "file or folder of manifests to read instead of a cluster")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the usual one")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Second, "how long to wait for each answer of the cluster")
	flags.DurationVar(
		&o.lead,
		"lead-time",
		5*time.Minute,
		"time from \"more replicas\" to \"ready\", until it is measured",
	)
	flags.BoolVar(
		&o.simulate,
		"simulate",
		false,
		"simulate the workloads on their history, sort them by the GPU-hours saved, and leave out those that would lose",
	)
	flags.StringVar(
		&o.out,
		"out",
		"",
		"folder to write the Forecasts to, each into a file of its own that is not there yet",
	)
	flags.BoolVar(&o.force, "force", false, "overwrite files of --out")
	flags.BoolVar(&o.apply, "apply", false, "create the Forecasts in the cluster")
	o.output.AddFlags(flags, "print the summary with the Forecasts")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	cmdline.AddTrustFlags(flags, &o.trust)
	store := pflag.NewFlagSet("store", pflag.ContinueOnError)
	o.history.AddFlags(store)
	store.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"trace", "column", "query"}, flag.Name) { // Each workload has its own query.
			flags.AddFlag(flag)
		}
	})
	return cmd
}

// validate returns every problem of a command line.
func (o *options) validate() error {
	o.history.Query = "up"
	problems := []error{o.trust.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.history.Prometheus.URL == "" {
		wrong("set --prometheus URL: its series tell which server a workload runs")
	} else {
		problems = append(problems, o.history.Validate())
	}
	if o.all && o.namespace != "" {
		wrong("--all-namespaces contradicts --namespace: keep one")
	}
	if o.file != "" && (o.kubeconfig != "" || o.context != "" || o.all || o.apply) {
		wrong("--file needs no cluster, leave out --kubeconfig, --context, --all-namespaces and --apply")
	}
	if o.timeout <= 0 || o.lead < time.Second {
		wrong("--timeout %s and --lead-time %s: write for example 10s and 5m", o.timeout, o.lead)
	}
	return errors.Join(problems...)
}

// run reads, proposes and writes.
func (o *options) run(ctx context.Context, out, messages io.Writer) error {
	found, err := o.read(ctx)
	if err != nil {
		return err
	}
	rows, bar := found.workloads(), progress.New(messages, o.quiet, time.Now)
	bar.Begin("looking at workloads", len(rows))
	for _, r := range rows {
		bar.SetTask(r.id())
		if err := o.propose(ctx, r); err != nil {
			return err
		}
		bar.Add(1)
	}
	bar.End()
	var failed error
	if o.apply {
		failed = found.create(ctx, rows)
	}
	return errors.Join(failed, o.write(out, rows, found.unread), summarize(messages, rows, found.unread))
}
