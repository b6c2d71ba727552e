package demo

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

const about = `Demo runs Forewarm on this machine, without a cluster and without any setup. It replays two weeks of demand and starts
shortly before a rise. The terminal shows how many replicas Forewarm asks for and how many the demand needs.

The demo has its own clock, which runs faster than real time (--speed). At the start, the embedded engine already
contains the past demand; new samples are added as the clock runs. Samples, queries, forecasts, the simulated autoscaler
and all timestamps follow this clock. When the recorded demand ends, the demo starts it again, at the same time of day.

--load chooses the demand. All three are synthetic (hack/tracegen) and resemble recorded demand:
  office  users arrive at about nine; the exact time and the number of users differ every day
  calm    demand follows the time of day
  wild    demand has bursts that no one can foresee

Replicas take 8 minutes to start (--lead-time), like those of a 70B model on a new node. The page and the terminal
compare Forewarm with an HPA whose target is 70 % of a replica's capacity. After the first rise, the terminal also shows
how simple rules would have done on the same days, each with its best target in hindsight.

--trace replays your own series instead, as the Forecast demo/trace. The replay starts shortly before the largest rise
in the second half of the series. The file is a CSV, plain or gzipped. Its first row contains the column names, and its first column is the time
(in seconds, or RFC 3339). --target is how much demand one of your replicas sustains.

--fleet plays a GPUFleet instead: two members, chat and code, and batch work on 56 GPUs for two weeks, in a few seconds. The
terminal and a page show a working day of it: batch work fills the night, and has given the GPUs back before the morning.

The data is kept in a temporary folder, which is removed when the demo ends.`

// New is the command "demo".
func New() *cobra.Command {
	options := Config{
		Load:     "office",
		LeadTime: DefaultLeadTime,
		Speed:    60,
		Port:     apiserver.DefaultStandaloneConfig().Port,
		Program:  os.Args[0],
	}
	log := cmdline.Log{Level: "error", Format: "text"}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run Forewarm on this machine, without a cluster",
		Long:  about,
		Example: `  forewarm demo --open
  forewarm demo --load wild --lead-time 3m
  forewarm demo --fleet
  forewarm demo --trace load.csv.gz --column requests --target 40 --port 8090`,
		Args: cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := errors.Join(options.Validate(), log.Validate(), checkFleet(options.Fleet, cmd.Flags()))
			if err != nil {
				return cmdline.UsageError(err)
			}
			if options.Fleet {
				bar := cmdline.NewProgressBar(cmd.ErrOrStderr(), false, run.WallClock{}.Now)
				return runFleet(cmd.Context(), options, cmd.OutOrStdout(), bar)
			}
			options.Stdin = cmd.InOrStdin()
			return Run(cmd.Context(), options, cmd.OutOrStdout(), log.New(cmd.ErrOrStderr()))
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&options.Fleet, "fleet", false, "play a GPUFleet: batch work on the GPUs that two workloads leave")
	flags.StringVar(&options.Load, "load", options.Load, "demand to replay: "+strings.Join(loadNames(), ", "))
	flags.StringVar(&options.Trace, "trace", "", "CSV file to replay instead of --load; - reads stdin")
	flags.StringVar(&options.Column, "column", "", "column of the trace; optional if the trace has only one")
	flags.Float64Var(&options.Target, "target", 0,
		"how much demand one replica sustains, in the trace's unit (default: a tenth of the highest demand)")
	flags.DurationVar(&options.LeadTime, "lead-time", options.LeadTime, "how long a replica takes to start")
	flags.Float64Var(&options.Speed, "speed", options.Speed, "speed of the demo's clock: 1 is real time, at most 600")
	flags.BoolVar(&options.Open, "open", false, "open the page in the browser")
	flags.IntVar(&options.Port, "port", options.Port, "port on 127.0.0.1; 0 means any free port")
	log.AddFlags(flags)
	return cmd
}

// checkFleet refuses the flags that do not apply to --fleet.
func checkFleet(fleet bool, flags *pflag.FlagSet) error {
	var problems []error
	for _, name := range []string{"load", "trace", "column", "target", "speed", "lead-time"} {
		if fleet && flags.Changed(name) {
			problems = append(problems, fmt.Errorf("--%s does not apply to --fleet, leave it out", name))
		}
	}
	return errors.Join(problems...)
}
