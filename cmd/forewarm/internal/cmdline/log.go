package cmdline

import (
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"

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
	klog.SetSlogLogger(log.With("component", "kubernetes"))
	stdlog.SetFlags(0)
	stdlog.SetOutput(slog.NewLogLogger(log.With("component", "go").Handler(), slog.LevelInfo).Writer())
	return log
}
