package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// Interrupted half-way it tells what is known by then, marked, with the code of an interruption.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := 0
	bar := cmdline.NewProgressBar(
		io.Discard,
		false,
		func() time.Time { // It asks for the time at every stretch of a model.
			told++
			if told == 60 {
				cancel()
			}
			return time.Unix(0, 0)
		},
	)
	var load strings.Builder
	load.WriteString("t,load\n")
	for i := range 3000 {
		at := time.Unix(int64(60*i), 0)
		fmt.Fprintf(&load, "%d,%g\n", at.Unix(), hourly(at))
	}
	out, err := cli.BacktestRun(ctx, bar, strings.NewReader(load.String()), "--trace", "-", "--season", "1h",
		"--model", "ses")
	if err == nil || cmdline.ExitCode(err) != 130 || !strings.Contains(err.Error(), "interrupted: the figures are of") {
		t.Errorf("%v with code %d, want an interruption with its figures", err, cmdline.ExitCode(err))
	}
	for _, want := range []string{"HORIZON MODEL", "- interrupted: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestInterruptionBeforeAnything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := cli.BacktestRun(ctx, nil, bytes.NewReader(nil), "--trace", "-")
	if cmdline.ExitCode(err) != 130 || out != "" {
		t.Errorf("%q and %v, want nothing and an interruption", out, err)
	}
}
