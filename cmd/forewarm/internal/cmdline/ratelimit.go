package cmdline

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// maxBurst is how many lines one place in the code may log at once; then it may log one line each pause. A thousand
	// Forecasts that fail at once need no line each: their statuses have the reason.
	maxBurst    = 100
	minInterval = time.Second
	// summaryDelay is the time from the first line that is left out to the line with their number.
	summaryDelay = 10 * time.Second
	// maxValue is how many bytes of a message or a value are logged, and maxStack how many of a stack.
	maxValue = 1000
	maxStack = 10_000
)

// rateLimited limits the rate of a handler for each place in the code, whatever the text, so that no client can flood the
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

// callSites in the code that have logged, by the program counter of the call.
type callSites struct {
	mu sync.Mutex
	at map[uintptr]*callSite
}

type callSite struct {
	rate    *rate.Limiter
	leftOut int
}

// admit reports whether a line may pass, or else whether it is the first one left out since the last resetLeftOut.
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

// truncateAttr is a handler's ReplaceAttr that truncates texts, the message too.
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
