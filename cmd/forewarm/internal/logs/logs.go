// Package logs makes the program's one logger from its flags.
package logs

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Options say what is logged and how.
type Options struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is text or json.
	Format string
}

// Defaults are what is logged unless flags say otherwise.
func Defaults() Options { return Options{Level: "info", Format: "text"} }

// Add binds the flags.
func (l *Options) Add(flags *pflag.FlagSet) {
	flags.StringVar(&l.Level, "log-level", l.Level, "what to log: debug, info, warn or error")
	flags.StringVar(&l.Format, "log-format", l.Format, "how to log: text or json")
}

// Validate says everything that is wrong.
func (l *Options) Validate() error {
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

// New is the logger. Kubernetes' own libraries, which log by klog, log by it too; klog calls its warnings infos there.
func (l *Options) New(out io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(l.Level)) != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if l.Format == "json" {
		handler = slog.NewJSONHandler(out, options)
	}
	log := slog.New(handler)
	klog.SetSlogLogger(log.With("component", "kubernetes"))
	return log
}
