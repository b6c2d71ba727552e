// Command forewarm forecasts the demand of workloads and serves the forecast as a metric.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/cmd/internal/shutdown"
)

// version is set by the linker: -X main.version=v1.2.3.
var version string

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	limitMemory()
	os.Exit(run())
}

// limitMemory lets the runtime collect garbage harder near the limit of the container (GOMEMLIMIT), which would end the process.
// Without a limit, or where it cannot be read, nothing changes.
func limitMemory() {
	const share = 0.9                                                // The rest is for what the runtime does not count.
	_, _ = memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(share)) //nolint:errcheck // See above.
}

// gcPercent is the default of GOGC in percent. The live heap is samples and scores, mostly without pointers, so collections twice as
// frequent as Go's cost a tenth of the CPU time under load, and save a quarter of the memory. At 25 they cost a fifth of it, and
// two fifths while Forecasts are created.
const gcPercent = 50

// secondSignalDelay is how long a second signal counts as the first one: timeout(1), for example, signals the process and its
// group.
const secondSignalDelay = time.Second

// run stops the command gracefully at the first signal, and at once at a later one.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), shutdown.Signals()...)
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(secondSignalDelay, stop) })()
	return cli.Program{Version: version, Name: os.Args[0]}.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
