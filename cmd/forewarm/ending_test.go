package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// command runs this test's program as forewarm, with a folder of its own for what is temporary.
func command(t *testing.T, temp string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asForewarm+"=1", "TMPDIR="+temp)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() }) //nolint:errcheck // It has ended, if all went well.
	return c
}

// A terminal that is closed ends the demo as ^C does, and nothing of it stays.
func TestHangupEndsTheDemo(t *testing.T) {
	temp := t.TempDir()
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
