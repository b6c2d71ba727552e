// Package simulate is the command "simulate": it replays a user's history to the user's autoscaler, with Forewarm and with other
// policies, and reports cost and lateness of each.
package simulate

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

const about = `Simulate shows what Forewarm would have done to your GPU-hours and late requests, before you switch it on. It replays
your recorded demand to your own HorizontalPodAutoscaler or ScaledObject, with replicas that take time to start.

Compared policies:
  hpa              the autoscaler as written; the verdict compares Forewarm with it, at equal reliability
  hpa-best-target  the same with the cheapest target in hindsight
  max15m           the maximum of the last 15 minutes
  offset           the largest of now and of this hour a day and a week ago: PromQL's offset
  holt-winters     the forecast of this model one lead time ahead, or the demand now if that is higher
  arima            the same with this model
  forewarm         what Forewarm serves for the objective
  oracle           the future demand, which nobody can know

All but hpa and forewarm use the best target in hindsight. Forewarm never knows what comes later.

--warm-pool plays the same on nodes that take time to arrive: without the pool, with the pool under several budgets, and
with a fixed number of chunks. It shows what the idle pool costs and what it saves.

--forecasts also reports how accurate the forecasts are, compared with rules that cost nothing, such as the last value. It
needs no autoscaler.

The history is the TOTAL demand in the unit of the autoscaler's target: a week or more, in steps of a minute (at most an
hour). It is a file (--trace), or comes from a Prometheus (--prometheus): by --query, by a --preset for the server that the
autoscaler scales, or by the query of a prometheus trigger of KEDA.

Exit codes:
  0    everything was played
  1    wrong usage, or something cannot be read or played
  130  interrupted; the output has what was played until then`

const examples = `  forewarm simulate --trace load.csv --column requests --hpa hpa.yaml --lead-time 5m
  forewarm simulate --prometheus http://localhost:9090 --preset vllm --range 14d --hpa hpa.yaml \
    --lead-time 4m,p90=7m --replica-capacity 64 --gpus 4 --gpu-price 3.06 --html proof.html
  forewarm simulate --trace load.csv --hpa hpa.yaml --lead-time 2m --node-lead-time 4m,p90=6m --warm-pool pool.yaml --member llama
  forewarm simulate --trace load.csv --lead-time 5m --forecasts`

// New is the command "simulate".
func New() *cobra.Command {
	o := defaults()
	cmd := &cobra.Command{
		Use:     "simulate",
		Short:   "Replay your own history to your autoscaler, with and without Forewarm",
		Long:    about,
		Example: examples,
		Args:    cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := cmd.Flags()
			err := errors.Join(o.validate(), o.validateObjective(flags), o.validateAlone(flags))
			if err != nil {
				return cmdline.UsageError(err)
			}
			return run(cmd.Context(), o, terminal{
				in: cmd.InOrStdin(), out: cmd.OutOrStdout(), messages: cmd.ErrOrStderr(), now: time.Now,
				bar: cmdline.NewProgressBar(cmd.ErrOrStderr(), o.quiet, time.Now),
			})
		},
	}
	o.add(cmd.Flags())
	return cmd
}
