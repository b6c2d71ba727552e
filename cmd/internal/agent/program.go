// Package agent is the command line of forewarm-agent. The driver is an argument, so this package needs no cgo.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/pods"
	"github.com/forewarm/forewarm/pkg/printable"
)

const about = `forewarm-agent measures how busy the GPUs of this node are, and which pods use them, even if pods share
a GPU by time-slicing or MIG. It changes nothing. Compare its output with that of nvidia-smi:

  forewarm-agent --once

Without --once it serves until it is stopped: /metrics for Prometheus, /history (the last hour, for
promtool tsdb create-blocks-from openmetrics) and /healthz.

`

// Exit codes.
const (
	failure = 1
	misuse  = 2
)

// Driver reads the GPUs; Close releases its library.
type Driver interface {
	collect.Reader
	io.Closer
}

// Program is forewarm-agent's command line.
type Program struct {
	// Version of the binary; empty means the one that the go command stamped into it.
	Version string
	Driver  Driver
}

// Run runs one command line until it is done or the context ends, and returns the exit code. Data goes to stdout,
// messages to stderr. Both are written without the characters that control a terminal.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = printable.NewWriter(stdout), printable.NewWriter(stderr)
	options := Defaults()
	flags := options.flags()
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, about, flags.FlagUsages())
		return 0
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: forewarm-agent takes flags only", flags.Arg(0))
	}
	if err = cmp.Or(err, options.Validate()); err != nil {
		fmt.Fprintf(stderr, "forewarm-agent: %v\nRun 'forewarm-agent --help' for usage.\n", err)
		return misuse
	}
	if options.Version {
		fmt.Fprintln(stdout, "forewarm-agent", p.version(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
		return 0
	}
	if options.Once {
		err = p.once(ctx, options, stdout, stderr)
	} else {
		err = p.serve(ctx, options, logger(options.LogLevel, stderr))
	}
	if err != nil {
		fmt.Fprintf(stderr, "forewarm-agent: %v\n", err)
		return failure
	}
	return 0
}

func logger(named string, to io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(named)) != nil {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}))
}

// version returns the version of the sources from which the binary was built.
func (p Program) version() string {
	if info, ok := debug.ReadBuildInfo(); ok && p.Version == "" {
		return info.Main.Version
	}
	return cmp.Or(p.Version, "unknown")
}

// isPID1 reports whether this is process 1 of its PID namespace, in which the node's processes cannot be seen.
func isPID1() bool { return os.Getpid() == 1 }

// newCollector creates a collector for this node; end closes its connections.
func (p Program) newCollector(
	o Options, before collect.Hour, log *slog.Logger,
) (c *collect.Collector, end func() error, err error) {
	lister, err := pods.DialKubelet(o.Socket)
	if err != nil {
		return nil, nil, fmt.Errorf("--pod-resources-socket: %w", err)
	}
	c, err = collect.New(o.Collect, collect.Deps{
		Reader: p.Driver, Holders: lister, Owners: pods.NewOwners(os.DirFS(o.Proc), os.DirFS(o.Logs)),
		Before: before, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	return c, lister.Close, nil
}
