package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Options are the command line's flags.
type Options struct {
	// Once prints one picture and ends; JSON prints it for programs.
	Once, JSON bool
	// Version prints the version of this binary and ends.
	Version bool

	// Listen is the address of the metrics.
	Listen  string
	Collect collect.Config
	// State is the file that keeps the last hour; empty for none.
	State string

	// Socket is the kubelet's, which lists the pods' GPUs; Proc and Logs are the folders that map processes to pods.
	Socket, Proc, Logs string

	// LogLevel is debug, info, warn or error.
	LogLevel string
}

// Defaults are the options of an empty command line.
func Defaults() Options {
	return Options{
		Listen: ":9401", Collect: collect.DefaultConfig(),
		Socket: pods.KubeletSocket, Proc: "/proc", Logs: "/var/log",
		LogLevel: "info",
	}
}

// maxAge is the age above which readings are not served.
func maxAge(o *Options) time.Duration { return 4 * o.Collect.Interval }

func (o *Options) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("forewarm-agent", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.BoolVar(&o.Once, "once", false, "print the GPUs and the pods on them once, and exit")
	flags.BoolVar(&o.JSON, "json", false, "with --once: print JSON")
	flags.StringVar(&o.Listen, "listen", o.Listen,
		"`address` to serve /metrics, /history and /healthz on, which Prometheus must be able to reach")
	flags.DurationVar(&o.Collect.Interval, "interval", o.Collect.Interval, "time between two readings, from 1s to 10s")
	flags.DurationVar(&o.Collect.Window, "window", o.Collect.Window, "time over which means and maxima are computed")
	flags.StringVar(
		&o.State,
		"state",
		"",
		"`file` that keeps the data of the last hour across restarts; none by default",
	)
	flags.StringVar(&o.Socket, "pod-resources-socket", o.Socket,
		"the kubelet's socket, which lists the GPUs of each pod")
	flags.StringVar(&o.Proc, "proc", o.Proc,
		"the node's /proc, to read the cgroups of processes; the pod needs hostPID: true")
	flags.StringVar(&o.Logs, "logs", o.Logs, "the node's /var/log, to read the names in pods/ and containers/")
	flags.StringVar(&o.LogLevel, "log-level", o.LogLevel, "lowest level to log: debug, info, warn or error")
	flags.BoolVar(&o.Version, "version", false, "print the version and exit")
	return flags
}

// Validate returns every problem at once.
func (o *Options) Validate() error {
	problems := []error{o.Collect.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if _, _, err := net.SplitHostPort(o.Listen); err != nil {
		wrong("--listen %.64q is not an address: write HOST:PORT or :PORT", o.Listen)
	}
	if o.JSON && !o.Once {
		wrong("--json needs --once: add it, or read /metrics of a running agent")
	}
	if err := new(slog.Level).UnmarshalText([]byte(o.LogLevel)); err != nil {
		wrong("--log-level %.64q is unknown: write debug, info, warn or error", o.LogLevel)
	}
	return errors.Join(problems...)
}
