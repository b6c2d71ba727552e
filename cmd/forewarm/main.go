// Command forewarm forecasts the demand of workloads and serves the forecast as a metric.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/cmd/internal/ending"
)

// version is set by the linker: -X main.version=v1.2.3.
var version string

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	os.Exit(run())
}

// garbage is how much may pile up between two collections, in percent of what is alive. What is alive is samples and
// scores, without pointers and so cheap to pass over: collecting often costs little, and a fleet's server stays small.
const garbage = 25

// patience is how long a second signal is taken for the first: timeout(1), for one, sends it to the process and to its
// group at once.
const patience = time.Second

// run lets the first signal end the command in good order, and a later one at once.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), ending.Signals()...)
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })()
	return cli.Program{Version: version}.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
