package shutdown_test

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/forewarm/forewarm/cmd/internal/shutdown"
)

func TestSignals(t *testing.T) {
	// The tests themselves may run under nohup.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	for _, want := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !slices.Contains(shutdown.Signals(), want) {
			t.Errorf("%v, want %v among them", shutdown.Signals(), want)
		}
	}
	signal.Ignore(syscall.SIGHUP)
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	if slices.Contains(shutdown.Signals(), os.Signal(syscall.SIGHUP)) {
		t.Errorf("%v, want it left ignored", shutdown.Signals())
	}
}
