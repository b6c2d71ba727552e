//go:build !cgo

// Command forewarm-agent reads the GPUs of its node. Without cgo this main only prints how to build it.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(
		os.Stderr,
		`forewarm-agent: this binary was built without cgo, so it cannot call NVIDIA's library (NVML).
Build it with a C compiler: make agent, or CGO_ENABLED=1 go build ./cmd/forewarm-agent,
or docker build -f deploy/agent/Dockerfile .
The build needs no GPU.`,
	)
	os.Exit(1)
}
