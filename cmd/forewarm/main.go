// Command forewarm forecasts the demand of workloads and serves the forecast as a metric.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/cmd/internal/shutdown"
)

// version is set by the linker: -X main.version=v1.2.3.
var version string

func main() {
	if os.Getenv("GOGC") == "" {
		go paceCollections()
	}
	limitMemory()
	os.Exit(run())
}

// limitMemory makes the garbage collector work harder near the memory limit of the container (GOMEMLIMIT), at which the process would be
// killed. If there is no limit, or it cannot be read, nothing changes.
func limitMemory() {
	const share = 0.9                                                // The rest is for memory outside the runtime.
	_, _ = memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(share)) //nolint:errcheck // See above.
}

const (
	// gcPercent is the minimum GOGC in percent. A collection is cheap, because the live heap is samples and scores with few pointers. Four
	// times as many collections as by default cost little CPU time with a large fleet, and save a third of its memory.
	gcPercent = 25
	// minGarbage is the minimum garbage between two collections. With a small heap, collections at gcPercent would take a fifth of the CPU
	// time under load, and two fifths while Forecasts are created.
	minGarbage = 64 << 20
	// pacePause is how often the live heap is read.
	pacePause = 10 * time.Second
)

// paceCollections keeps the garbage between two collections above minGarbage while the program runs.
func paceCollections() {
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for percent := 100; ; { // Go's default, which is also right for a short command that holds weeks of history.
		time.Sleep(pacePause)
		runtimemetrics.Read(live)
		wanted := max(gcPercent, int(100*minGarbage/max(live[0].Value.Uint64(), minGarbage/4)))
		if wanted*4 < percent*3 || wanted*3 > percent*4 { // Setting it stops the world.
			percent = wanted
			debug.SetGCPercent(percent)
		}
	}
}

// secondSignalDelay is how long a second signal counts as a part of the first one. For example, timeout(1) signals the process and also its
// process group.
const secondSignalDelay = time.Second

// run stops the command gracefully at the first signal, and immediately at a later one.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), shutdown.Signals()...)
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(secondSignalDelay, stop) })()
	return cli.Program{Version: version, Name: os.Args[0]}.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
