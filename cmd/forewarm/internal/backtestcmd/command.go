package backtestcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
)

const about = `Backtest replays the history of a demand to Forewarm's models and reports how well they forecast it. Each model knows
only what was known at that time. The baselines cost nothing: the last value, the same time last season, the running
maximum. A model that does not beat them is not worth its CPU.

Each model is judged at each horizon in two ways:
  point by point  how far the forecast was from the value at that horizon
  window          whether its quantiles of the window's maximum held; replicas must be ready for that maximum, and
                  Forewarm serves it. Baselines are calibrated in the same way.

The verdict is about the window of the lead time.

The history is a CSV file, or a range of a Prometheus. "forewarm simulate" answers another question: what an autoscaler
would do with the forecast, in GPU-hours and late requests.

Exit codes:
  0    at least one model was judged
  1    wrong usage, or no model could be judged; the message has the reason
  130  interrupted by ^C; the output has the results until then`

const examples = `  forewarm backtest --trace load.csv.gz --column requests
  forewarm backtest --trace load.csv --horizon 5m,30m --model holt-winters --model arima --plot backtest.svg
  forewarm backtest --prometheus http://127.0.0.1:9090 --query 'sum(vllm:num_requests_running)' --range 14d
  forewarm backtest --trace - --json < load.csv | jq .verdict`

// options are the flags.
type options struct {
	history  history.Options
	models   []string
	horizons []string
	lead     model.Duration
	season   model.Duration
	json     bool
	quiet    bool
	plot     string
}

// New is the command "backtest".
func New() *cobra.Command {
	o := defaults()
	cmd := &cobra.Command{
		Use:     "backtest (--trace FILE | --prometheus URL --query PROMQL)",
		Short:   "Report how well the history of a demand could have been forecast",
		Long:    about,
		Example: examples,
		Args:    exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return exit.Usage(err)
			}
			bar := progress.New(cmd.ErrOrStderr(), o.quiet, time.Now)
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), bar)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(o.flags())
	return cmd
}

// flags binds the options, in the order in which the help shows them.
func (o *options) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("backtest", pflag.ContinueOnError)
	flags.SortFlags = false
	o.history.AddFlags(flags)
	flags.StringSliceVar(&o.models, "model", nil,
		"models to judge, of "+strings.Join(fitted(), ", ")+" (default "+strings.Join(usual(), ", ")+")")
	const horizons = "how far ahead to judge (default 2m,5m,10m,30m as the step allows)"
	const leadTime = "time from \"more replicas\" to \"ready\": the verdict is about the highest demand of this window"
	flags.StringSliceVar(&o.horizons, "horizon", nil, horizons)
	flags.Var(&o.lead, "lead-time", leadTime)
	flags.Var(&o.season, "season", "the cycle in which demand repeats")
	flags.BoolVar(&o.json, "json", false, "print the figures as JSON")
	flags.StringVar(&o.plot, "plot", "", "draw the forecast beside the actual demand to this file, as SVG; - prints "+
		"it instead of the figures")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return flags
}

func defaults() *options {
	return &options{
		history: history.Defaults(),
		lead:    model.Duration(5 * time.Minute),
		season:  model.Duration(24 * time.Hour),
	}
}

// validate says everything that is wrong with a command line.
func (o *options) validate() error {
	problems := []error{o.history.Validate()}
	for _, name := range o.models {
		if _, ok := named(name); !ok {
			problems = append(problems,
				fmt.Errorf("--model %.64q is none, choose of %s", name, strings.Join(fitted(), ", ")))
		}
	}
	if _, err := o.ahead(); err != nil {
		problems = append(problems, err)
	}
	if o.plot == files.Stdout && o.json {
		problems = append(problems, errors.New("--plot - and --json print to one output, keep one or name a file"))
	}
	if err := files.Writable(o.plot); o.plot != "" && err != nil {
		problems = append(problems, fmt.Errorf("--plot %s: %w", o.plot, err))
	}
	for flag, d := range map[string]model.Duration{"lead-time": o.lead, "season": o.season} {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("--%s %s is not positive", flag, d))
		}
	}
	return errors.Join(problems...)
}

// ahead are the horizons that were named.
func (o *options) ahead() ([]time.Duration, error) {
	var out []time.Duration
	for _, text := range o.horizons {
		d, err := model.ParseDuration(strings.TrimSpace(text))
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("--horizon %.64q is no time ahead, write for example 5m,30m", text)
		}
		out = append(out, time.Duration(d))
	}
	return out, nil
}

// run reads, backtests and tells.
func (o *options) run(ctx context.Context, in io.Reader, out io.Writer, bar *progress.Bar) error {
	h, err := o.history.Read(ctx, in, time.Now(), bar)
	if err != nil {
		return interrupted(ctx, err)
	}
	p, err := o.plan(h)
	if err != nil {
		return err
	}
	t := trial{plan: p, models: o.chosen()}
	played := t.play(ctx, runtime.GOMAXPROCS(0), bar)
	if played.complete == 0 {
		return interrupted(ctx, errors.New("interrupted before there was anything to tell"))
	}
	r := newReport(h, p, played)
	err = o.tell(r, out)
	switch why := r.unjudged(); {
	case err != nil:
		return err
	case r.partial():
		partial := fmt.Errorf("interrupted: the figures are of %d of %d stretches", played.complete, played.stretches)
		return interrupted(ctx, partial)
	case why != "":
		return errors.New(why)
	}
	return nil
}

// draw writes the plot, where one is wanted.
func (o *options) draw(r report, out io.Writer) error {
	if o.plot == "" {
		return nil
	}
	svg, err := r.svg()
	if err == nil {
		err = files.Write(o.plot, out, svg)
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// tell writes the plot, where one is wanted, and the figures, where the plot is not in their place.
func (o *options) tell(r report, out io.Writer) error {
	failed := o.draw(r, out)
	switch {
	case o.plot == files.Stdout:
		return failed
	case o.json:
		return errors.Join(r.writeJSON(out), failed)
	}
	return errors.Join(r.writeText(out), failed)
}

// interrupted gives an error the code of an interruption where there was one.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, err)
	}
	return err
}
