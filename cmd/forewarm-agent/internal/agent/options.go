package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/pods/kubelet"
)

// Options are what the command line says.
type Options struct {
	// Once prints one look and ends; JSON prints it for programs.
	Once, JSON bool
	// Version prints what this binary is and ends.
	Version bool

	// Listen is the address of the metrics.
	Listen  string
	Collect collect.Config
	// State is the file that the last hour is kept in; empty for none.
	State string

	// Socket of the kubelet, Proc and Logs are where a node shows who holds its GPUs and whose its processes are.
	Socket, Proc, Logs string

	// LogLevel is debug, info, warn or error.
	LogLevel string
}

// Defaults are the options of an empty command line.
func Defaults() Options {
	return Options{
		Listen: ":9401", Collect: collect.DefaultConfig(),
		Socket: kubelet.Socket, Proc: "/proc", Logs: "/var/log",
		LogLevel: "info",
	}
}

// stale is the age beyond which readings are not shown.
func (o *Options) stale() time.Duration { return 4 * o.Collect.Interval }

func (o *Options) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("forewarm-agent", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.BoolVar(&o.Once, "once", false, "print one look at the GPUs and the pods on them, and end")
	flags.BoolVar(&o.JSON, "json", false, "with --once: print JSON")
	flags.StringVar(&o.Listen, "listen", o.Listen,
		"`address` of /metrics, /history and /healthz, for Prometheus to reach on the pod's IP")
	flags.DurationVar(&o.Collect.Interval, "interval", o.Collect.Interval, "time between readings, 1s … 10s")
	flags.DurationVar(&o.Collect.Window, "window", o.Collect.Window, "time that the figures are of")
	flags.StringVar(&o.State, "state", "", "`file` to keep the last hour in over a restart; none by default")
	flags.StringVar(&o.Socket, "pod-resources-socket", o.Socket,
		"the kubelet's socket that says which pod holds which GPU")
	flags.StringVar(&o.Proc, "proc", o.Proc,
		"the node's /proc, for the processes' cgroups; needs the node's PIDs (hostPID)")
	flags.StringVar(&o.Logs, "logs", o.Logs, "the node's /var/log, for the names of pods/ and containers/")
	flags.StringVar(&o.LogLevel, "log-level", o.LogLevel, "what to log: debug, info, warn or error")
	flags.BoolVar(&o.Version, "version", false, "print what this binary is, and end")
	return flags
}

// Validate says everything that is wrong.
func (o *Options) Validate() error {
	problems := []error{o.Collect.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if _, _, err := net.SplitHostPort(o.Listen); err != nil {
		wrong("--listen %.64q: want HOST:PORT or :PORT", o.Listen)
	}
	if o.JSON && !o.Once {
		wrong("--json is for --once: a running agent shows /metrics")
	}
	if err := new(slog.Level).UnmarshalText([]byte(o.LogLevel)); err != nil {
		wrong("--log-level %.64q is unknown, valid are debug, info, warn and error", o.LogLevel)
	}
	return errors.Join(problems...)
}
