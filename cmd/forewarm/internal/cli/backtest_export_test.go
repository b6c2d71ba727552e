package cli

import (
	"bytes"
	"context"
	"io"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// Run is the command line with a bar of the test's.
func BacktestRun(ctx context.Context, bar *cmdline.ProgressBar, stdin io.Reader, args ...string) (string, error) {
	o := backtestDefaults()
	flags := o.flags()
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if err := o.validate(); err != nil {
		return "", err
	}
	var out bytes.Buffer
	err := o.run(ctx, stdin, &out, bar)
	return out.String(), err
}
