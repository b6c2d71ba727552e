package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Log says what is logged and how.
type Log struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is text or json.
	Format string
}

// DefaultLog is what is logged unless flags say otherwise.
func DefaultLog() Log { return Log{Level: "info", Format: "text"} }

// AddFlags binds the flags.
func (l *Log) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&l.Level, "log-level", l.Level, "what to log: debug, info, warn or error")
	flags.StringVar(&l.Format, "log-format", l.Format, "how to log: text or json")
}

// Validate says everything that is wrong.
func (l *Log) Validate() error {
	var problems []error
	if err := new(slog.Level).UnmarshalText([]byte(l.Level)); err != nil {
		problems = append(problems,
			fmt.Errorf("--log-level %.64q is unknown, valid are debug, info, warn and error", l.Level))
	}
	if l.Format != "text" && l.Format != "json" {
		problems = append(problems, fmt.Errorf("--log-format %.64q is unknown, valid are text and json", l.Format))
	}
	return errors.Join(problems...)
}

// New is the logger. Kubernetes' own libraries, which log by klog, log by it too; klog calls its warnings infos there. So does
// what logs by Go's package log: an HTTP/2 server whose client hangs up, for one. As requests cause lines, each line is limited
// in rate and length.
func (l *Log) New(out io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(l.Level)) != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: cut}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if l.Format == "json" {
		handler = slog.NewJSONHandler(out, options)
	}
	log := slog.New(limit(handler))
	newest := log.Handler()
	librariesHandler.Store(&newest)
	librariesTold.Do(func() {
		libraries := slog.New(toNewest{})
		klog.SetSlogLogger(libraries.With("component", "kubernetes"))
		stdlog.SetFlags(0)
		stdlog.SetOutput(slog.NewLogLogger(libraries.With("component", "go").Handler(), slog.LevelInfo).Writer())
	})
	return log
}

// Klog takes no other logger once anything runs, and a command line has a first logger before its flags are read.
//
//nolint:gochecknoglobals // The libraries' loggers are global.
var (
	librariesTold    sync.Once
	librariesHandler atomic.Pointer[slog.Handler]
)

// toNewest hands records to the handler of the logger that was made last.
type toNewest struct {
	// with are the attributes and groups that came since, in their order.
	with []func(slog.Handler) slog.Handler
}

func (n toNewest) handler() slog.Handler {
	h := *librariesHandler.Load()
	for _, add := range n.with {
		h = add(h)
	}
	return h
}

func (n toNewest) and(add func(slog.Handler) slog.Handler) slog.Handler {
	return toNewest{append(slices.Clip(n.with), add)}
}

// Enabled implements slog.Handler.
func (n toNewest) Enabled(ctx context.Context, level slog.Level) bool {
	return n.handler().Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (n toNewest) Handle(ctx context.Context, r slog.Record) error { return n.handler().Handle(ctx, r) }

// WithAttrs implements slog.Handler.
func (n toNewest) WithAttrs(attrs []slog.Attr) slog.Handler {
	return n.and(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (n toNewest) WithGroup(name string) slog.Handler {
	return n.and(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}
