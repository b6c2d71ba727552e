//go:build cgo

// Command forewarm-agent reads the GPUs of its node, and serves how busy each GPU and each pod on it is.
package main

import (
	"context"
	"os"
	"os/signal"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/cmd/internal/agent"
	"github.com/forewarm/forewarm/cmd/internal/shutdown"
	"github.com/forewarm/forewarm/pkg/agent/nvml"
)

// version is set by the linker: -X main.version=v1.2.3.
var version string

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), shutdown.Signals()...)
	defer stop()
	program := agent.Program{Version: version, Driver: nvml.New(gonvml.New())}
	return program.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
