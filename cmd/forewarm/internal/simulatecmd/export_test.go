package simulatecmd

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
)

// Run is the command without its process: what is told of the progress goes to words at every unit of work.
func Run(ctx context.Context, out, words io.Writer, args ...string) error {
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
	return run{options: o, out: out, words: words, now: clock, bar: progress.New(words, o.quiet, clock)}.run(ctx)
}
