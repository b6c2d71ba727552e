// Command reference prints forewarm-agent's part of docs/reference: its flags (cli) or its metrics (metrics).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm-agent/internal/agent"
	"github.com/forewarm/forewarm/hack/reference"
)

func main() {
	var err error
	switch strings.Join(os.Args[1:], " ") {
	case "cli":
		err = flags(os.Stdout)
	case "metrics":
		err = reference.WriteMetrics(os.Stdout, reference.Section{
			Title:      "forewarm-agent",
			Text:       "The GPUs of one node, and the pods on them. `uuid` and `gpu_instance` name the GPU or MIG instance.",
			Collectors: agent.Program{}.Collectors(agent.Defaults(), nil),
		})
	default:
		err = errors.New("usage: reference cli|metrics")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// flags prints the help.
func flags(out io.Writer) error {
	var help strings.Builder
	if code := (agent.Program{}).Run(context.Background(), []string{"--help"}, &help, os.Stderr); code != 0 {
		return fmt.Errorf("forewarm-agent --help: exit code %d", code)
	}
	reference.WriteHelp(out, "forewarm-agent", help.String())
	return nil
}
