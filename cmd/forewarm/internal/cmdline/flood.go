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
	// burst is how many lines one place in the code may log at once, and then one each pause. A thousand Forecasts that fail at
	// once do not need a line each: their statuses say it.
	burst = 100
	pause = time.Second
	// told is how long after the first line that is left out it is told how many were.
	told = 10 * time.Second
	// maxValue is how many bytes of a message or of a value are logged, and maxStack how many of a stack.
	maxValue = 1000
	maxStack = 10_000
)

// limited is a handler that no client can flood: each place in the code has a rate of its own, whatever the text that it logs.
type limited struct {
	slog.Handler

	places *places
}

// limit limits what a handler is given.
func limit(handler slog.Handler) slog.Handler {
	return limited{handler, &places{at: make(map[uintptr]*place)}}
}

// Handle implements slog.Handler.
func (l limited) Handle(ctx context.Context, r slog.Record) error {
	pass, first := l.places.admit(r.PC)
	if first {
		ctx = context.WithoutCancel(ctx)
		time.AfterFunc(told, func() {
			sum := slog.NewRecord(time.Now(), r.Level, r.Message, r.PC)
			sum.AddAttrs(slog.Int("left_out", l.places.takeLeftOut(r.PC)))
			_ = l.Handler.Handle(ctx, sum) //nolint:errcheck // Where the log is gone there is nobody to tell.
		})
	}
	if !pass {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l limited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return limited{l.Handler.WithAttrs(attrs), l.places}
}

// WithGroup implements slog.Handler.
func (l limited) WithGroup(name string) slog.Handler {
	return limited{l.Handler.WithGroup(name), l.places}
}

// places in the code that have logged, by the program counter of the call.
type places struct {
	mu sync.Mutex
	at map[uintptr]*place
}

type place struct {
	rate    *rate.Limiter
	leftOut int
}

// admit says whether a line may pass, or else whether it is the first that is left out since the last time that it was told.
func (p *places) admit(pc uintptr) (pass, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at[pc]
	if at == nil {
		at = &place{rate: rate.NewLimiter(rate.Every(pause), burst)}
		p.at[pc] = at
	}
	if at.rate.Allow() {
		return true, false
	}
	at.leftOut++
	return false, at.leftOut == 1
}

// takeLeftOut is how many lines were left out since the last call.
func (p *places) takeLeftOut(pc uintptr) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.at[pc].leftOut = 0 }()
	return p.at[pc].leftOut
}

// cut is a handler's ReplaceAttr: texts are shortened, the message's too.
func cut(_ []string, a slog.Attr) slog.Attr {
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
