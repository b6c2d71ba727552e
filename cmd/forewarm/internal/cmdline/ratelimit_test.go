package cmdline_test

import (
	"context"
	"encoding/json"
	"errors"
	stdlog "log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/hack/logtest"
)

// Whatever logs, and whatever text a client chooses: a place in the code logs a hundred lines, the others are counted, and the
// count is told. Another place is not silenced by it.
func TestAFloodIsCountedInsteadOfLogged(t *testing.T) {
	for name, flood := range map[string]func(log *slog.Logger, i int){
		"ours":            func(log *slog.Logger, i int) { log.Error("refused", "selector", i) },
		"klog":            func(_ *slog.Logger, i int) { klog.ErrorS(nil, "refused", "selector", i) },
		"klog, formatted": func(_ *slog.Logger, i int) { klog.Errorf("refused %d", i) },
		"log":             func(_ *slog.Logger, i int) { stdlog.Printf("refused %d", i) },
		"an http.Server":  func(log *slog.Logger, i int) { slog.NewLogLogger(log.Handler(), 0).Printf("refused %d", i) },
		"with attributes": func(log *slog.Logger, i int) { log.With("client", i).WithGroup("g").Info("refused", "at", i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out logtest.Buffer
				l := cmdline.DefaultLog()
				log := l.New(&out)
				for i := range 60_000 {
					flood(log, i)
				}
				log.Info("another")
				text := out.Take()
				if got := strings.Count(text, "refused"); got != 100 {
					t.Errorf("%d lines of 60000, want 100", got)
				}
				if !strings.Contains(text, "another") {
					t.Error("the flood silenced another line")
				}
				time.Sleep(11 * time.Second)
				if text = out.Take(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "left_out=59900") ||
					!strings.Contains(text, "refused") {
					t.Errorf("what was left out is told as:\n%s", text)
				}
				time.Sleep(time.Hour)
				flood(log, 1)
				if text = out.Take(); strings.Count(text, "\n") != 1 || strings.Contains(text, "left_out") {
					t.Errorf("after the flood:\n%s", text)
				}
			})
		})
	}
}

func TestALineIsShort(t *testing.T) {
	long := strings.Repeat("ä", 50_000)
	for _, format := range []string{"text", "json"} {
		var out logtest.Buffer
		l := cmdline.Log{Level: "info", Format: format}
		log := l.New(&out)
		for name, line := range map[string]func(){
			"a value":   func() { log.Error("refused", "selector", long) },
			"an error":  func() { log.Error("refused", "error", errors.New(long)) },
			"a struct":  func() { klog.ErrorS(nil, "refused", "request", map[string][]string{"selector": {long}}) },
			"a message": func() { klog.Errorf("refused %s", long) },
			"a group":   func() { log.LogAttrs(context.Background(), 0, "x", slog.Group("g", slog.String("y", long))) },
			"a context": func() { log.With("selector", long).Info("refused") },
		} {
			line()
			text := out.Take()
			if len(text) > 2000 || !strings.Contains(text, "bytes)") || strings.Count(text, "\n") != 1 {
				t.Errorf("%s, %s: %d bytes: %.100s", format, name, len(text), text)
			}
			if format == "json" && !json.Valid([]byte(text)) {
				t.Errorf("%s: no JSON: %s", name, text)
			}
		}
		log.Error("panicked", "stack", strings.Repeat("s", 50_000))
		if text := out.Take(); len(text) < 10_000 || len(text) > 11_000 {
			t.Errorf("%s: a stack has %d bytes", format, len(text))
		}
	}
}
