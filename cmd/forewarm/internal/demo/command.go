package demo

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
)

const about = `Demo runs Forewarm on this machine, without a cluster and without any setup. It plays a workload itself: two weeks of
recorded load. Nine tenths of it are in the past, and the rest runs live. After its end the load repeats from the same
time of day.

The past is backfilled into the embedded engine, which then scrapes the workload. Two Forecasts are served in the
namespace demo: the request rate of a service, and the busy GPUs of a model server.

--trace plays a series of yours instead, as the Forecast demo/trace. The file is a CSV, plain or gzipped. Its first row
names the columns, and its first column is the time (seconds, or RFC 3339). With --target, the page shows what Forewarm
would save or cost on it.

The data lies in a temporary folder, which is removed at the end.`

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
	flags.StringVar(&options.Column, "column", "", "column of the trace; optional if it has only one")
	const target = "what one replica sustains, in the trace's unit: then an objective is served (1% later than 30s), " +
		"else a quantile"
	flags.Float64Var(&options.Target, "target", 0, target)
	flags.IntVar(&options.Port, "port", options.Port, "port on 127.0.0.1; 0 means any that is free")
	log.AddFlags(flags)
	return cmd
}
