//go:build cgo

// Command forewarm-agent reads the GPUs of the node that it runs on, and shows what each of them and each pod on them does.
package main

import (
	"context"
	"os"
	"os/signal"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/cmd/forewarm-agent/internal/agent"
	"github.com/forewarm/forewarm/cmd/internal/ending"
	"github.com/forewarm/forewarm/pkg/agent/nvml"
)

// version is set by the linker: -X main.version=v1.2.3.
var version string

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), ending.Signals()...)
	defer stop()
	program := agent.Program{Version: version, Driver: nvml.New(gonvml.New())}
	return program.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
