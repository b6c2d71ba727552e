// Package capacity is the command "capacity": it estimates what one replica of a service sustains from past overloads, which is
// the autoscaler's target. It changes nothing.
package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/signal"
)

const about = `Capacity estimates how much demand one replica of a service sustains. Use the estimate as the averageValue of the HPA's
target: the value that Forewarm serves already contains the headroom, so the target is the full capacity of a replica.

It reads three histories: the demand, the ready replicas, and a signal that is above 0 while the service is at its
limit, ideally the length of its queue. The load at which the queue starts to grow is what a replica sustains. The
output gives the estimate with an interval and shows the evidence. If the service reached its limit too rarely for an
estimate, the output says so. In that case, load one replica until its queue grows, then run the command again.

You can write the three queries yourself, or let Forewarm write them: set --preset and --target, or set --forecast. Your
own --query must return a single series: the total demand.

This command changes nothing.`

const examples = `  forewarm capacity --prometheus http://127.0.0.1:9090 --preset vllm --target deployment/llama -n inference
  forewarm capacity --prometheus http://127.0.0.1:9090 --forecast inference/llama-inflight
  forewarm capacity --prometheus http://127.0.0.1:9090 --range 4w --step 30s \
    --query 'sum(rate(http_requests_total{app="web"}[2m]))' --saturated 'sum(web_queue_length)' \
    --target deployment/web -n shop
  forewarm capacity --trace load.csv --column requests --saturated-column queue --replicas-column ready
  forewarm capacity --trace - --column tokens --saturated-column queue --replicas-column ready --json < load.csv | jq .target`

// options has the values of the flags.
type options struct {
	history history.Options
	signals signals
	// The names of the same signals as columns of a trace.
	saturatedColumn, replicasColumn string
	// forecast is NAMESPACE/NAME of a Forecast in a cluster that has the signals; empty if none is given.
	forecast string
	cluster  cmdline.Cluster
	output   cmdline.Output
	quiet    bool
}

// New is the command "capacity".
func New() *cobra.Command {
	o := &options{
		history: history.Defaults(), signals: signals{Workload: history.Workload{Trust: signal.DefaultTrust()}},
		cluster: cmdline.Cluster{Timeout: 15 * time.Second},
	}
	cmd := &cobra.Command{
		Use:     "capacity (--prometheus URL --preset NAME --target KIND/NAME | --trace FILE)",
		Short:   "Estimate how much demand one replica sustains, from past overloads",
		Long:    about,
		Example: examples,
		Args:    cmdline.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd, o) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(o.flags())
	return cmd
}

// flags binds the options, in the order in which the help shows them.
func (o *options) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("capacity", pflag.ContinueOnError)
	flags.SortFlags = false
	o.signals.AddFlags(flags, "")
	flags.StringVar(&o.signals.saturated, "saturated", "",
		"PromQL query that is above 0 while the service is at its limit (default: the queue length of the preset's "+
			"server)")
	flags.StringVar(&o.signals.replicas, "replicas", "",
		"PromQL query for the number of ready replicas (default: the ready replicas of the target, from "+
			"kube-state-metrics)")
	flags.StringVar(
		&o.saturatedColumn,
		"saturated-column",
		"",
		"column of the trace that is above 0 while the service is at its limit",
	)
	flags.StringVar(&o.replicasColumn, "replicas-column", "", "column of the trace with the ready replicas")
	flags.StringVar(&o.forecast, "forecast", "",
		"NAMESPACE/NAME of a Forecast in the cluster whose signal and workload to use")
	flags.StringVar(&o.cluster.Kubeconfig, "kubeconfig", "",
		"kubeconfig of the cluster (default: as kubectl finds it)")
	flags.StringVar(&o.cluster.Context, "context", "", "context of the kubeconfig to use")
	o.history.AddFlags(flags)
	o.output.AddFlags(flags, "print the estimate")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	return flags
}

// run reads the history, estimates the capacity and prints it.
func run(cmd *cobra.Command, o *options) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if err := o.validateForecast(); err != nil {
		return cmdline.UsageError(err)
	}
	if o.forecast != "" {
		if err := takeForecast(ctx, o); err != nil {
			return fmt.Errorf("--forecast %s: %w", o.forecast, err)
		}
	}
	asked, err := o.queries()
	if err != nil {
		return cmdline.UsageError(err)
	}
	bar := cmdline.NewProgressBar(cmd.ErrOrStderr(), o.quiet, time.Now)
	r, err := read(ctx, cmd.InOrStdin(), o.history, asked, bar)
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	if r.estimate, err = capacity.FromHistory(r.observed); err != nil {
		return err
	}
	if o.output.ForScripts() {
		return o.output.Write(out, r.record())
	}
	_, err = io.WriteString(out, r.text())
	return err
}

// validateForecast returns every problem with the flags of a Forecast.
func (o *options) validateForecast() error {
	if o.forecast == "" {
		if o.cluster.Kubeconfig != "" || o.cluster.Context != "" {
			return errors.New("--kubeconfig and --context are for --forecast NAMESPACE/NAME, which is missing")
		}
		return nil
	}
	var problems []error
	if namespace, name, ok := strings.Cut(o.forecast, "/"); !ok || namespace == "" || name == "" ||
		strings.Contains(name, "/") {
		problems = append(problems, fmt.Errorf("--forecast %.200q is not a Forecast, write NAMESPACE/NAME", o.forecast))
	}
	if o.signals.Preset != "" || o.history.Query != "" || o.signals.Target != "" || o.signals.Namespace != "" {
		problems = append(problems, errors.New("--forecast already defines the demand and the workload: leave out "+
			"--preset, --query, --target and --namespace"))
	}
	if o.history.Trace != "" {
		problems = append(problems, errors.New("--forecast does not apply to --trace, leave it out"))
	}
	return errors.Join(problems...)
}

// takeForecast sets the options from the Forecast's fields, instead of the flags that cannot be combined with a Forecast. The Forecast is
// read with the user's own permissions. The same applies to its queries, which are not confined to its namespace.
func takeForecast(ctx context.Context, o *options) error {
	config, _, err := o.cluster.Config(ctx, "capacity")
	if err != nil {
		return err
	}
	namespace, name, _ := strings.Cut(o.forecast, "/")
	forecast, err := client.ReadForecast(ctx, config, namespace, name)
	if err != nil {
		return err
	}
	spec, s := &forecast.Spec, &o.signals
	s.Preset, o.history.Query = spec.Signal.Preset, spec.Signal.Query
	s.saturated = cmp.Or(s.saturated, spec.Signal.Saturated)
	s.Target, s.Namespace = spec.TargetRef.Kind+"/"+spec.TargetRef.Name, forecast.Namespace
	return nil
}

// queries returns the queries to read, or every problem of the command line.
func (o *options) queries() (queries, error) {
	if o.history.Trace != "" {
		return o.columns()
	}
	asked, missing := promQL(o.signals, o.history.Query)
	all := []error{o.signals.Validate(&o.history)}
	for name, column := range map[string]string{"saturated-column": o.saturatedColumn, "replicas-column": o.replicasColumn} {
		if column != "" {
			all = append(all, fmt.Errorf("--%s needs --trace, leave it out", name))
		}
	}
	problems := errors.Join(append(all, missing)...)
	// If the demand is unknown for another reason, only that reason is reported.
	o.history.Query, o.history.QueryLater = asked.demand, problems != nil
	return asked, errors.Join(o.history.Validate(), problems)
}

// columns returns the columns to read from a trace.
func (o *options) columns() (queries, error) {
	err := errors.Join(o.history.Validate(), o.history.RefuseFlags("--trace", func(name string) bool {
		return slices.Contains([]string{"saturated", "replicas"}, name)
	}), o.signals.Validate(&o.history))
	if o.history.Column == "" || o.saturatedColumn == "" || o.replicasColumn == "" {
		err = errors.Join(err, errors.New("set the trace's columns: --column (the demand), --saturated-column "+
			"(above 0 while the service is at its limit) and --replicas-column (the ready replicas)"))
	}
	a := queries{demand: o.history.Column, saturated: o.saturatedColumn, replicas: o.replicasColumn}
	return a, err
}
