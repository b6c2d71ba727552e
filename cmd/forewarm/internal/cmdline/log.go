package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/time/rate"
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
	flags.StringVar(&l.Level, "log-level", l.Level, "lowest level that is logged: debug, info, warn or error")
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

// newestHandler passes records to the handler of the newest logger.
type newestHandler struct {
	// wrappers add the attributes and groups, in their order.
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

const (
	// maxBurst is how many lines one place in the code may log in a burst. After that, it may log one line per minInterval. If a thousand
	// Forecasts fail at the same time, they do not need a line each, because their statuses have the reason.
	maxBurst    = 100
	minInterval = time.Second
	// summaryDelay is the time from the first line that is left out until the line that reports how many were left out.
	summaryDelay = 10 * time.Second
	// maxValue limits how many bytes of a message or a value are logged, and maxStack limits those of a stack trace.
	maxValue = 1000
	maxStack = 10_000
)

// rateLimited limits the rate of a handler separately for each place in the code, independent of the text, so that no client can flood the
// log.
type rateLimited struct {
	slog.Handler

	sites *callSites
}

// limitRate limits the rate of a handler.
func limitRate(handler slog.Handler) slog.Handler {
	return rateLimited{handler, &callSites{at: make(map[uintptr]*callSite)}}
}

// Handle implements slog.Handler.
func (l rateLimited) Handle(ctx context.Context, r slog.Record) error {
	pass, first := l.sites.admit(r.PC)
	if first {
		ctx = context.WithoutCancel(ctx)
		time.AfterFunc(summaryDelay, func() {
			sum := slog.NewRecord(time.Now(), r.Level, r.Message, r.PC)
			sum.AddAttrs(slog.Int("left_out", l.sites.resetLeftOut(r.PC)))
			_ = l.Handler.Handle(ctx, sum) //nolint:errcheck // Without a log there is nowhere to report it.
		})
	}
	if !pass {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l rateLimited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return rateLimited{l.Handler.WithAttrs(attrs), l.sites}
}

// WithGroup implements slog.Handler.
func (l rateLimited) WithGroup(name string) slog.Handler {
	return rateLimited{l.Handler.WithGroup(name), l.sites}
}

// callSites has the places in the code that have logged, by the program counter of the call.
type callSites struct {
	mu sync.Mutex
	at map[uintptr]*callSite
}

type callSite struct {
	rate    *rate.Limiter
	leftOut int
}

// admit reports whether a line may pass. If not, it reports whether the line is the first one that is left out since the last resetLeftOut.
func (p *callSites) admit(pc uintptr) (pass, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at[pc]
	if at == nil {
		at = &callSite{rate: rate.NewLimiter(rate.Every(minInterval), maxBurst)}
		p.at[pc] = at
	}
	if at.rate.Allow() {
		return true, false
	}
	at.leftOut++
	return false, at.leftOut == 1
}

// resetLeftOut returns how many lines were left out since the last call.
func (p *callSites) resetLeftOut(pc uintptr) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.at[pc].leftOut = 0 }()
	return p.at[pc].leftOut
}

// truncateAttr is a handler's ReplaceAttr function. It truncates texts, including the message.
func truncateAttr(_ []string, a slog.Attr) slog.Attr {
	var text string
	switch a.Value.Kind() { //nolint:exhaustive // The others are short.
	case slog.KindString:
		text = a.Value.String()
	case slog.KindAny:
		text = fmt.Sprint(a.Value.Any())
	}
	most := maxValue
	if a.Key == "stack" || a.Key == "stacktrace" {
		most = maxStack
	}
	if len(text) > most {
		a.Value = slog.StringValue(fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text)))
	}
	return a
}
