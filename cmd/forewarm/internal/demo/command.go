package demo

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

const about = `Demo runs Forewarm on this machine, without a cluster and without setup. It plays two weeks of demand, and begins
shortly before a rise. The terminal shows how many replicas Forewarm asks for, and how many the demand needs.

The demo has one clock, which runs faster than life (--speed). It begins at a time of the demand. The past is stored in
the embedded engine, and the rest is added as the clock runs. The store's samples, the queries, the loop, the simulated
autoscaler, and the times that are served are all of this clock. After its end the demand repeats from the same time of day.

--load chooses the demand. All three are made (hack/tracegen), to resemble recorded ones:
  office  its users come to work at about nine, on each day at another time and in another number
  calm    it follows the time of day
  wild    it has bursts that no one can foresee

Replicas take 8 minutes to start (--lead-time), as a 70B model on a new node does. The page and the terminal compare Forewarm
with an HPA whose target is 70 % of what a replica sustains. After the first rise, the terminal also shows simple rules for the
same days, each with the target that would have been best.

--trace plays your own series instead, as the Forecast demo/trace, and begins before the largest rise of its second half.
The file is a CSV, plain or gzipped. Its first row names the columns, and its first column is the time (seconds, or
RFC 3339). --target is what one of your replicas sustains.

The data are in a temporary folder, which is removed at the end.`

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
  forewarm demo --trace load.csv.gz --column requests --target 40 --port 8090`,
		Args: cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(options.Validate(), log.Validate()); err != nil {
				return cmdline.UsageError(err)
			}
			options.Stdin = cmd.InOrStdin()
			return Run(cmd.Context(), options, cmd.OutOrStdout(), log.New(cmd.ErrOrStderr()))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.Load, "load", options.Load, "demand to play: "+strings.Join(loadNames(), ", "))
	flags.StringVar(&options.Trace, "trace", "", "CSV file to play instead of --load; - reads stdin")
	flags.StringVar(&options.Column, "column", "", "column of the trace; not needed if it has only one")
	flags.Float64Var(&options.Target, "target", 0,
		"what one replica sustains, in the trace's unit; without it a tenth of the highest demand")
	flags.DurationVar(&options.LeadTime, "lead-time", options.LeadTime, "how long a replica takes to start")
	flags.Float64Var(&options.Speed, "speed", options.Speed, "speed of the demo's clock: 1 is life, at most 600")
	flags.BoolVar(&options.Open, "open", false, "open the page in the browser")
	flags.IntVar(&options.Port, "port", options.Port, "port on 127.0.0.1; 0 means any free port")
	log.AddFlags(flags)
	return cmd
}
