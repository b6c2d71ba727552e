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
	"github.com/forewarm/forewarm/hack/processtest"
)

func TestKubernetesLibrariesLogThroughOurs(t *testing.T) {
	for _, c := range []struct {
		log  cmdline.Log
		want []string
		not  []string
	}{
		{cmdline.Log{Level: "info", Format: "text"}, []string{"msg=theirs-info component=kubernetes", "msg=ours"}, nil},
		{cmdline.Log{Level: "debug", Format: "json"}, []string{`"msg":"theirs-info"`, `"component":"kubernetes"`}, nil},
		{cmdline.Log{Level: "warn", Format: "text"}, []string{"msg=theirs-error"}, []string{"theirs-info", "ours"}},
	} {
		var out strings.Builder
		log := c.log.New(&out)
		log.Info("ours")
		klog.InfoS("theirs-info")
		klog.ErrorS(nil, "theirs-error")
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%+v: %q is not in:\n%s", c.log, want, out.String())
			}
		}
		for _, not := range c.not {
			if strings.Contains(out.String(), not) {
				t.Errorf("%+v: %q is in:\n%s", c.log, not, out.String())
			}
		}
	}
}

func TestBothProblemsAtOnce(t *testing.T) {
	o := cmdline.Log{Level: "loud", Format: "xml"}
	err := o.Validate()
	if err == nil || !strings.Contains(err.Error(), "--log-level") || !strings.Contains(err.Error(), "--log-format") {
		t.Errorf("error %v, want both problems", err)
	}
}

// No line is in another form than asked: a reader of JSON can read all.
func TestGoLogsThroughOurs(t *testing.T) {
	var out strings.Builder
	l := cmdline.Log{Level: "info", Format: "json"}
	l.New(&out)
	stdlog.Print("http2: server: error reading preface")
	if got := out.String(); !strings.Contains(got, `"msg":"http2: server: error reading preface","component":"go"}`) {
		t.Errorf("%s", got)
	}
}

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
				var out processtest.LogBuffer
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
		var out processtest.LogBuffer
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
