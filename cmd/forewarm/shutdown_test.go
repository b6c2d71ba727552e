package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// command runs this test's program as forewarm, with a folder of its own for what is temporary.
func command(t *testing.T, temp string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asForewarm+"=1", "TMPDIR="+temp)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A terminal that is closed ends the demo as ^C does, and nothing of it stays.
func TestHangupEndsTheDemo(t *testing.T) {
	temp := t.TempDir()
	heard := make(chan os.Signal, 1) // Under nohup the demo would ignore it, too.
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	c := command(t, temp, "demo", "--port=0")
	made := func() []string {
		found, err := filepath.Glob(filepath.Join(temp, "forewarm-demo-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	eventually(t, func() string {
		if len(made()) == 0 {
			return "the demo has no folder"
		}
		return ""
	})
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v, want a good end", err)
	}
	if left := made(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
