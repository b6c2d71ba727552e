// Package capacity is the command "capacity": it estimates what one replica of a service sustains from past overloads, which is
// the autoscaler's target. It changes nothing.
package capacity

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/signal"
)

const about = `Capacity estimates what one replica of a service sustains, in the unit of its demand. That is the averageValue of an
HPA's target: the value that Forewarm serves contains the headroom, so the target is the full capacity of a replica.

It reads three histories: the demand, the ready replicas, and a signal that is above 0 while the service is at its
limit, ideally the length of its queue. A replica sustains the load at which the queue starts to grow. The estimate has
an interval, and the output says what it is based on. If the service reached its limit too rarely, there is no estimate
and the output gives the reason: then load one replica until its queue grows, and run the command again.

--preset with --target, or --forecast, defines all three queries. Your own query must yield one series, the total.

This command changes nothing.`

const examples = `  forewarm capacity --prometheus http://127.0.0.1:9090 --preset vllm --target deployment/llama -n inference
  forewarm capacity --prometheus http://127.0.0.1:9090 --forecast inference/llama-inflight
  forewarm capacity --prometheus http://127.0.0.1:9090 --range 4w --step 30s \
    --query 'sum(rate(http_requests_total{app="web"}[2m]))' --saturated 'sum(web_queue_length)' \
    --target deployment/web -n shop
  forewarm capacity --trace load.csv --column requests --saturated-column queue --replicas-column ready
  forewarm capacity --trace - --column tokens --saturated-column queue --replicas-column ready --json < load.csv | jq .target`

// options are the flags.
type options struct {
	history  history.Options
	forecast forecastFlags
	// preset, target and namespace say what to ask for, as far as saturated and replicas do not, which are queries.
	preset, target, namespace string
	trust                     signal.Trust
	saturated, replicas       string
	// The same as columns of a trace.
	saturatedColumn, replicasColumn string
	output                          cmdline.Output
	quiet                           bool
}

// New is the command "capacity".
func New() *cobra.Command {
	o := &options{history: history.Defaults(), trust: signal.DefaultTrust()}
	cmd := &cobra.Command{
		Use:     "capacity (--prometheus URL --preset NAME --target KIND/NAME | --trace FILE)",
		Short:   "Estimate what one replica sustains, from past overloads of the service",
		Long:    about,
		Example: examples,
		Args:    cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.forecast.validate(o); err != nil {
				return cmdline.UsageError(err)
			}
			if err := o.forecast.fill(cmd.Context(), o); err != nil {
				return err
			}
			asked, err := o.resolve()
			if err != nil {
				return cmdline.UsageError(err)
			}
			bar := cmdline.NewProgressBar(cmd.ErrOrStderr(), o.quiet, time.Now)
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), asked, bar)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(o.flags())
	return cmd
}

// flags binds the options, in the order in which the help shows them.
func (o *options) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("capacity", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&o.preset, "preset", "",
		"server or preset of the demand: vllm, or vllm/arrivals (see forewarm presets)")
	flags.StringVar(&o.target, "target", "", "workload whose replicas count, for example deployment/llama")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the workload")
	cmdline.AddTrustFlags(flags, &o.trust)
	flags.StringVar(&o.saturated, "saturated", "",
		"PromQL above 0 while the service is at its limit (default: the queue of the preset's server)")
	flags.StringVar(&o.replicas, "replicas", "",
		"PromQL of the ready replicas (default: the target's, by kube-state-metrics)")
	flags.StringVar(&o.saturatedColumn, "saturated-column", "", "column of the trace that is above 0 at the limit")
	flags.StringVar(&o.replicasColumn, "replicas-column", "", "column of the trace with the ready replicas")
	flags.StringVar(&o.forecast.name, "forecast", "",
		"take signal and workload from this Forecast of a cluster, NAMESPACE/NAME")
	flags.StringVar(&o.forecast.kubeconfig, "kubeconfig", "",
		"kubeconfig of the cluster (default: as kubectl finds it)")
	flags.StringVar(&o.forecast.context, "context", "", "context of the kubeconfig")
	o.history.AddFlags(flags)
	o.output.AddFlags(flags, "print the estimate")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	return flags
}

// run reads, estimates and prints.
func (o *options) run(
	ctx context.Context, in io.Reader, out io.Writer, asked queries, bar *cmdline.ProgressBar,
) error {
	r, err := o.read(ctx, in, asked, bar)
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	if r.estimate, err = capacity.FromHistory(r.observed); err != nil {
		return err
	}
	if o.output.ForScripts() {
		return o.output.Write(out, r.document())
	}
	return r.writeText(out)
}

// resolve returns the queries, or every problem of the command line.
func (o *options) resolve() (queries, error) {
	if o.history.Trace != "" {
		return o.columns()
	}
	a, problems := o.promQL()
	o.history.Query = a.demand
	// Where the demand is not known for another reason, that is the one to tell.
	if a.demand == "" && problems != nil {
		o.history.Query = "unknown"
	}
	return a, errors.Join(o.history.Validate(), problems)
}

// columns are what is asked of a trace.
func (o *options) columns() (queries, error) {
	err := errors.Join(o.history.Validate(), o.history.RefuseFlags("--trace", func(name string) bool {
		return slices.Contains([]string{"preset", "target", "namespace", "saturated", "replicas"}, name)
	}))
	if o.history.Column == "" || o.saturatedColumn == "" || o.replicasColumn == "" {
		err = errors.Join(err, errors.New("set --column, --saturated-column and --replicas-column, the trace's "+
			"columns of the demand, of what is above 0 at the limit, and of the ready replicas"))
	}
	a := queries{demand: o.history.Column, saturated: o.saturatedColumn, replicas: o.replicasColumn}
	return a, err
}
