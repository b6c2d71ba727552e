package backtestcmd

import (
	"bytes"
	"context"
	"io"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
)

// Run is the command line with a bar of the test's.
func Run(ctx context.Context, bar *progress.Bar, stdin io.Reader, args ...string) (string, error) {
	o := defaults()
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
