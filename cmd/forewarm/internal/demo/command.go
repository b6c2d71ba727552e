package demo

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
)

const about = `Demo runs Forewarm on this machine, without a cluster and without setup. It simulates a workload from two weeks of
recorded load: nine tenths of them are in the past, and the rest is played live. At its end the load repeats from the
same time of day.

The past is backfilled into the embedded engine, which then scrapes the workload. Two Forecasts are served in the
namespace demo: the request rate of a service, and the busy GPUs of a model server.

--trace plays your own series instead, as the Forecast demo/trace. The file is a CSV, plain or gzipped. Its first row
names the columns, and its first column is the time (seconds, or RFC 3339). With --target, the page shows what Forewarm
would save or cost on it.

The data are in a temporary folder, which is removed at the end.`

// New is the command "demo".
func New() *cobra.Command {
	options := Options{Port: apiserver.DefaultStandaloneOptions().Port, Program: os.Args[0]}
	log := cmdline.Log{Level: "error", Format: "text"}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run Forewarm on this machine, without a cluster",
		Long:  about,
		Example: `  forewarm demo
  forewarm demo --trace load.csv.gz --column requests --target 40 --port 8090`,
		Args: exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(options.Validate(), log.Validate()); err != nil {
				return exit.Usage(err)
			}
			options.Stdin = cmd.InOrStdin()
			return Run(cmd.Context(), options, cmd.OutOrStdout(), log.New(cmd.ErrOrStderr()))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.Trace, "trace", "", "CSV file to play instead of the demo's own traces; - reads stdin")
	flags.StringVar(&options.Column, "column", "", "column of the trace; not needed if it has only one")
	const target = "what one replica sustains, in the trace's unit: the Forecast then has an objective (at most 1% waits " +
		"longer than 30s), otherwise a quantile"
	flags.Float64Var(&options.Target, "target", 0, target)
	flags.IntVar(&options.Port, "port", options.Port, "port on 127.0.0.1; 0 means any free port")
	log.AddFlags(flags)
	return cmd
}
