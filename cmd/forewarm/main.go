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

// limitMemory lets the runtime collect garbage harder near the limit of the container (GOMEMLIMIT), which would end the process.
// Without a limit, or where it cannot be read, nothing changes.
func limitMemory() {
	const share = 0.9                                                // The rest is for what the runtime does not count.
	_, _ = memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(share)) //nolint:errcheck // See above.
}

const (
	// gcPercent is the least GOGC in percent. The live heap is samples and scores, mostly without pointers, so collections four times as
	// frequent as Go's cost little of a large fleet's CPU time, and save a third of its memory.
	gcPercent = 25
	// minGarbage is how much garbage a collection is worth at least: of a small heap those of gcPercent take a fifth of the CPU time
	// under load, and two fifths while Forecasts are created.
	minGarbage = 64 << 20
	// pacePause is how often the live heap is read.
	pacePause = 10 * time.Second
)

// paceCollections keeps the garbage between two collections above its least, for as long as the program runs.
func paceCollections() {
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for percent := 100; ; { // Go's own, which is also right for a command of seconds that holds a history of weeks.
		time.Sleep(pacePause)
		runtimemetrics.Read(live)
		wanted := max(gcPercent, int(100*minGarbage/max(live[0].Value.Uint64(), minGarbage/4)))
		if wanted*4 < percent*3 || wanted*3 > percent*4 { // To set it stops the world.
			percent = wanted
			debug.SetGCPercent(percent)
		}
	}
}

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
