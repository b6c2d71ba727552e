package simulatecmd

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
)

const about = `Simulate says what Forewarm would have done to your GPU-hours and late requests, before you switch it on: it plays
the demand that you recorded to your own HorizontalPodAutoscaler or ScaledObject, with replicas that take their time to
start.

What is compared:
  hpa              the autoscaler as it is written
  hpa-best-target  the same with the target that would have been cheapest; the verdict is stated against this one
  max15m           the maximum of the last 15 minutes in its place
  offset           the larger of now and of this hour a day and a week ago: PromQL's offset
  holt-winters     what this model forecasts for the lead time ahead, or now where that is more
  arima            the same with this one
  forewarm         what forewarm serves for the objective
  oracle           the demand to come: what nobody can know

All but hpa and forewarm are given the best target in hindsight. Forewarm knows at no time what comes later.

With --warm-pool the same is played on nodes that take their time to come, without the pool, with it under several
budgets, and with a fixed number of chunks: what the pool costs while it is idle, and what it saves.

The history is the TOTAL demand in the unit of the autoscaler's target, a week or more of it in steps of a minute (an
hour at most): a CSV file of --trace, or a --query to a --prometheus.

Exit codes:
  0    everything was played
  1    wrong usage, or something cannot be read or played
  130  interrupted: what was played until then is shown`

const examples = `  forewarm simulate --trace load.csv --column requests --hpa hpa.yaml --lead-time 5m
  forewarm simulate --prometheus http://localhost:9090 --query 'sum(vllm:num_requests_running + vllm:num_requests_waiting)' \
    --range 14d --hpa hpa.yaml --lead-time 4m,p90=7m --replica-capacity 64 --gpus 4 --gpu-price 3.06 --html proof.html
  forewarm simulate --trace load.csv --hpa hpa.yaml --lead-time 2m --node-lead-time 4m,p90=6m --warm-pool pool.yaml --member llama`

// New is the command "simulate".
func New() *cobra.Command {
	o := defaults()
	cmd := &cobra.Command{
		Use:     "simulate",
		Short:   "Play your own history to your autoscaler and to forewarm",
		Long:    about,
		Example: examples,
		Args:    exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.history.Validate(), o.validate()); err != nil {
				return exit.Usage(err)
			}
			return run{
				options: o, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), words: cmd.ErrOrStderr(), now: time.Now,
				bar: progress.New(cmd.ErrOrStderr(), o.quiet, time.Now),
			}.run(cmd.Context())
		},
	}
	o.add(cmd.Flags())
	return cmd
}
