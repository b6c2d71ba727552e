package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// Run is the command without its process: what is told of the progress goes to words at every unit of work.
func SimulateRun(ctx context.Context, out, words io.Writer, args ...string) error {
	o := simulateDefaults()
	flags := pflag.NewFlagSet("simulate", pflag.ContinueOnError)
	o.add(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	now := time.Unix(0, 0)
	clock := func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
	return run{
		simulateOptions: o,
		out:             out,
		messages:        words,
		now:             clock,
		bar:             cmdline.NewProgressBar(words, o.quiet, clock),
	}.run(ctx)
}

// The values of flags.
type (
	Lead             = leadFlag
	Share            = shareFlag
	SimulateQuantity = quantityFlag
)

// The readers of --shape and --variant.
var (
	ParseShape   = parseShape
	ParseVariant = parseVariant
)
