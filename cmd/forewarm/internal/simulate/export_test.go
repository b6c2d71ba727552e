package simulate

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// CutToCommon is cutToCommon.
var CutToCommon = cutToCommon

// Run is the command without its process: what is told of the progress goes to messages at every unit of work.
func Run(ctx context.Context, out, messages io.Writer, args ...string) error {
	o := defaults()
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
	return run(ctx, o, terminal{
		out: out, messages: messages, now: clock, bar: cmdline.NewProgressBar(messages, o.quiet, clock),
	})
}

// The values of flags.
type (
	Lead     = leadFlag
	Share    = shareFlag
	Quantity = quantityFlag
)

// The readers of --shape and --variant.
var (
	ParseShape   = parseShape
	ParseVariant = parseVariant
)
