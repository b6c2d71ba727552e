// Package simulate is the command "simulate": it replays a user's history to the user's autoscaler, with Forewarm and with other
// policies, and reports cost and lateness of each.
package simulate

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

const about = `Simulate shows how Forewarm would have changed your GPU-hours and late requests, before you install anything. It replays
your recorded demand against your own HorizontalPodAutoscaler or ScaledObject, with replicas that take time to start.

Compared policies:
  hpa              your autoscaler as it is; the verdict compares Forewarm with it, at equal reliability
  hpa-best-target  your autoscaler with the cheapest target in hindsight
  max15m           the HPA reads the maximum demand of the last 15 minutes
  offset           the HPA reads the highest of the demand now, 24 hours ago and a week ago (PromQL's offset)
  holt-winters     the HPA reads this model's forecast one lead time ahead, or the current demand if it is higher
  arima            the same with an ARIMA forecast
  forewarm         the HPA reads the value that Forewarm serves for the objective
  oracle           the HPA reads the future demand, which no one can know

All policies except hpa and forewarm use the target that was best in hindsight. Forewarm never sees future demand.

--warm-pool simulates nodes that take time to become ready. It compares three cases: no pool, the pool with several
budgets, and a fixed number of chunks. It shows what the idle pool costs and what it saves.

--fleet simulates a GPUFleet: all of its members together on a fixed number of GPUs, with batch work that is always there.
It compares a static partition, batch work that takes every free GPU and is preempted, and Forewarm.

--forecasts also reports how accurate the forecasts are, compared with simple rules such as the last value. It needs no
autoscaler.

The history must be the TOTAL demand in the unit of the autoscaler's target. It must cover a week or more, ideally in
steps of a minute (at most an hour). Read it from a file (--trace) or from a Prometheus (--prometheus). From a
Prometheus, the demand comes from --query, from a --preset for the workload that the autoscaler scales, or from the
query of KEDA's prometheus trigger.

Exit codes:
  0    the simulation is complete
  1    wrong usage, or something cannot be read or simulated
  130  interrupted; the output shows the results so far (none with --fleet)`

const examples = `  forewarm simulate --trace load.csv --column requests --hpa hpa.yaml --lead-time 5m
  forewarm simulate --prometheus http://localhost:9090 --preset vllm --range 14d --hpa hpa.yaml \
    --lead-time 4m,p90=7m --replica-capacity 64 --gpus 4 --gpu-price 3.06 --html proof.html
  forewarm simulate --trace load.csv --hpa hpa.yaml --lead-time 2m --node-lead-time 4m,p90=6m --warm-pool pool.yaml --member llama
  forewarm simulate --fleet fleet.yaml --hpa hpas.yaml --history chat=chat.csv --history code=code.csv --lead-time 5m,p90=8m
  forewarm simulate --trace load.csv --lead-time 5m --forecasts`

// New is the command "simulate".
func New() *cobra.Command {
	o := defaults()
	cmd := &cobra.Command{
		Use:     "simulate",
		Short:   "Replay your recorded demand against your autoscaler, with and without Forewarm",
		Long:    about,
		Example: examples,
		Args:    cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validateAll(cmd.Flags()); err != nil {
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
