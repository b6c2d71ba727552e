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

// Log configures what is logged and how.
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
	flags.StringVar(&l.Level, "log-level", l.Level, "least level that is logged: debug, info, warn or error")
	flags.StringVar(&l.Format, "log-format", l.Format, "format of the log: text or json")
}

// Validate returns every problem at once.
func (l *Log) Validate() error {
	var problems []error
	if err := new(slog.Level).UnmarshalText([]byte(l.Level)); err != nil {
		problems = append(problems,
			fmt.Errorf("--log-level %.64q is unknown: write debug, info, warn or error", l.Level))
	}
	if l.Format != "text" && l.Format != "json" {
		problems = append(problems, fmt.Errorf("--log-format %.64q is unknown: write text or json", l.Format))
	}
	return errors.Join(problems...)
}

// New makes the logger. Kubernetes' libraries, which log through klog, log to it too; klog reports its warnings as
// infos. So does code that uses Go's package log, for example an HTTP/2 server whose client hangs up. Requests cause
// lines, so lines are limited in rate and length.
func (l *Log) New(out io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(l.Level)) != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: truncateAttr}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if l.Format == "json" {
		handler = slog.NewJSONHandler(out, options)
	}
	log := slog.New(limitRate(handler))
	newest := log.Handler()
	librariesHandler.Store(&newest)
	librariesOnce.Do(func() {
		libraries := slog.New(newestHandler{})
		klog.SetSlogLogger(libraries.With("component", "kubernetes"))
		stdlog.SetFlags(0)
		stdlog.SetOutput(slog.NewLogLogger(libraries.With("component", "go").Handler(), slog.LevelInfo).Writer())
	})
	return log
}

// Klog must get its logger before anything runs, and a command line has a first logger before its flags are read.
//
//nolint:gochecknoglobals // The libraries' loggers are global.
var (
	librariesOnce    sync.Once
	librariesHandler atomic.Pointer[slog.Handler]
)

// newestHandler passes records to the handler of the logger that was made last.
type newestHandler struct {
	// wrappers adds the attributes and groups, in their order.
	wrappers []func(slog.Handler) slog.Handler
}

func (n newestHandler) handler() slog.Handler {
	h := *librariesHandler.Load()
	for _, add := range n.wrappers {
		h = add(h)
	}
	return h
}

func (n newestHandler) with(add func(slog.Handler) slog.Handler) slog.Handler {
	return newestHandler{append(slices.Clip(n.wrappers), add)}
}

// Enabled implements slog.Handler.
func (n newestHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return n.handler().Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (n newestHandler) Handle(ctx context.Context, r slog.Record) error {
	return n.handler().Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (n newestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return n.with(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (n newestHandler) WithGroup(name string) slog.Handler {
	return n.with(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}
