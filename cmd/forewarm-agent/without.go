//go:build !cgo

// Command forewarm-agent reads the GPUs of the node that it runs on. This is what is left of it without cgo.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(
		os.Stderr,
		`forewarm-agent: this binary was built without cgo, which it needs to call NVIDIA's library (NVML).
Build it with a C compiler: make agent, or CGO_ENABLED=1 go build ./cmd/forewarm-agent, or docker build -f deploy/agent/Dockerfile .
It builds on a machine without a GPU.`,
	)
	os.Exit(1)
}
