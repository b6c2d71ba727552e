package cli

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

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
)

// The command "backtest": how well Forewarm's models would have forecast a demand's history,
// compared with baselines.
//
// Every model gets the history as it would have arrived (package [backtest]), is refitted as in the server, and its
// window peak forecasts are calibrated as in the server. All models are judged on the same values. Folds run in the
// order of time, all models at once, so that an interruption leaves a shorter backtest, not an unbalanced one.

const backtestAbout = `Backtest replays the history of a demand to Forewarm's models and reports how well they forecast it. Each model knows
only what was known at that time. The baselines are free: the last value, the last season (the same time in it), the
running maximum. A model that does not beat them is not worth its CPU.

Each model is judged at each horizon in two ways:
  point   error of the forecast of the value at that horizon
  window  loss and coverage of its quantiles of the peak until that horizon: the window peak. Replicas must be ready
          for the window peak, and Forewarm serves it. Baselines are calibrated in the same way.

The verdict is about the window peak over the lead time.

The history is a CSV file, or a range of a Prometheus. "forewarm simulate" answers another question: what an autoscaler
would do with the forecast, in GPU-hours and late requests.

Exit codes:
  0    at least one model was judged
  1    wrong usage, or no model could be judged; the message has the reason
  130  interrupted by ^C; the output has the results until then`

const backtestExamples = `  forewarm backtest --trace load.csv.gz --column requests
  forewarm backtest --trace load.csv --horizon 5m,30m --model holt-winters --model arima --plot backtest.svg
  forewarm backtest --prometheus http://127.0.0.1:9090 --query 'sum(vllm:num_requests_running)' --range 14d
  forewarm backtest --trace - --json < load.csv | jq .verdict`

// backtestOptions are the flags.
type backtestOptions struct {
	history  history.Options
	models   []string
	horizons []string
	lead     model.Duration
	season   model.Duration
	output   cmdline.Output
	quiet    bool
	plot     string
}

// newBacktest is the command "backtest".
func newBacktest() *cobra.Command {
	o := backtestDefaults()
	cmd := &cobra.Command{
		Use:     "backtest (--trace FILE | --prometheus URL --query PROMQL)",
		Short:   "Report how well Forewarm would have forecast the history of a demand",
		Long:    backtestAbout,
		Example: backtestExamples,
		Args:    cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			bar := cmdline.NewProgressBar(cmd.ErrOrStderr(), o.quiet, time.Now)
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), bar)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(o.flags())
	models := cobra.FixedCompletions(modelNames(), cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("model", models) //nolint:errcheck // The flag exists, and once.
	return cmd
}

// flags binds the options, in the order in which the help shows them.
func (o *backtestOptions) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("backtest", pflag.ContinueOnError)
	flags.SortFlags = false
	o.history.AddFlags(flags)
	flags.StringSliceVar(&o.models, "model", nil,
		"models to judge, from "+strings.Join(modelNames(), ", ")+" (default "+strings.Join(defaultModels(), ", ")+")")
	const horizons = "how far ahead to judge (default 2m,5m,10m,30m as the step allows)"
	const leadTime = "time from \"more replicas\" to \"ready\": the verdict is about the peak demand of this window"
	flags.StringSliceVar(&o.horizons, "horizon", nil, horizons)
	flags.Var(&o.lead, "lead-time", leadTime)
	flags.Var(&o.season, "season", "season: the period after which demand repeats")
	o.output.AddFlags(flags, "print the figures")
	flags.StringVar(&o.plot, "plot", "", "write a chart of forecast and actual demand to this file, as SVG; - prints "+
		"it instead of the figures")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	return flags
}

func backtestDefaults() *backtestOptions {
	return &backtestOptions{
		history: history.Defaults(),
		lead:    model.Duration(5 * time.Minute),
		season:  model.Duration(24 * time.Hour),
	}
}

// validate returns every problem of a command line.
func (o *backtestOptions) validate() error {
	problems := []error{o.history.Validate()}
	for _, name := range o.models {
		if err := checkModel(name); err != nil {
			problems = append(problems, err)
		}
	}
	if _, err := o.parseHorizons(); err != nil {
		problems = append(problems, err)
	}
	if o.plot == cmdline.Stdout && o.output.ForScripts() {
		problems = append(problems,
			fmt.Errorf("--plot - and -o %s both print to stdout, keep one or name a file", &o.output))
	}
	if err := cmdline.CheckWritable(o.plot); o.plot != "" && err != nil {
		problems = append(problems, fmt.Errorf("--plot %s: %w", o.plot, err))
	}
	for flag, d := range map[string]model.Duration{"lead-time": o.lead, "season": o.season} {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("--%s %s is not positive", flag, d))
		}
	}
	return errors.Join(problems...)
}

// parseHorizons are the horizons that were named.
func (o *backtestOptions) parseHorizons() ([]time.Duration, error) {
	var out []time.Duration
	for _, text := range o.horizons {
		d, err := model.ParseDuration(strings.TrimSpace(text))
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("--horizon %.64q is not a duration, write for example 5m,30m", text)
		}
		out = append(out, time.Duration(d))
	}
	return out, nil
}

// run reads, backtests and prints.
func (o *backtestOptions) run(ctx context.Context, in io.Reader, out io.Writer, bar *cmdline.ProgressBar) error {
	h, err := o.history.Read(ctx, in, time.Now(), bar)
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	p, err := o.plan(h)
	if err != nil {
		return err
	}
	t := contest{plan: p, models: o.selectedModels()}
	played := t.play(ctx, runtime.GOMAXPROCS(0), bar)
	if played.complete == 0 {
		return cmdline.IfInterrupted(ctx, errors.New("interrupted before there were results"))
	}
	r := newReport(h, p, played)
	err = o.writeReport(r, out)
	switch why := r.unjudged(); {
	case err != nil:
		return err
	case r.partial():
		partial := fmt.Errorf("interrupted: the figures are of %d of %d parts", played.complete, played.stretches)
		return cmdline.IfInterrupted(ctx, partial)
	case why != "":
		return errors.New(why)
	}
	return nil
}

// writePlot writes the plot, where one is wanted.
func (o *backtestOptions) writePlot(r backtestReport, out io.Writer) error {
	if o.plot == "" {
		return nil
	}
	svg, err := r.svg()
	if err == nil {
		err = cmdline.WriteFile(o.plot, out, svg)
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// writeReport writes the plot, where one is wanted, and the figures, where the plot is not in their place.
func (o *backtestOptions) writeReport(r backtestReport, out io.Writer) error {
	failed := o.writePlot(r, out)
	switch {
	case o.plot == cmdline.Stdout:
		return failed
	case o.output.ForScripts():
		return errors.Join(o.output.Write(out, r.document()), failed)
	}
	r.writeText(out)
	return failed
}
