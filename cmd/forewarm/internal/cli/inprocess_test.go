package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/hack/processtest"
)

// TestMain lets the test's binary be forewarm, where it is called so: for the tests that need a process.
func TestMain(m *testing.M) {
	if slices.Contains(names, filepath.Base(os.Args[0])) {
		program.Name = os.Args[0]
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := program.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		fmt.Fprintf(os.Stderr, "exit code %d\n", code)
		os.Exit(code)
	}
	m.Run()
}

var program = cli.Program{Version: "v0.0.0-test"}

// names are those by which the binary is called.
var names = []string{"forewarm", "kubectl-forewarm", "kubectl_complete-forewarm"}

// executable makes files in a folder that run forewarm in a process of its own.
func executable(folder string) error {
	self, err := os.Executable()
	for _, name := range names {
		err = errors.Join(err, os.Symlink(self, filepath.Join(folder, name)))
	}
	return err
}

// shell is where a command runs: its working folder, and the variables and the standard input that it has.
type shell struct {
	folder string
	env    map[string]string
	stdin  string
}

// turn: a process has one working folder and one environment, so commands take turns.
var turn sync.Mutex

// result is what a command leaves.
type result struct {
	stdout, stderr string
	code           int
}

// run runs forewarm in this process.
func (s shell) run(ctx context.Context, args []string) (result, error) {
	turn.Lock()
	defer turn.Unlock()
	restore, err := s.enter()
	if err != nil {
		return result{}, errors.Join(err, restore())
	}
	var stdout bytes.Buffer
	var stderr processtest.LogBuffer // Libraries may log after the command's end.
	p := program
	p.Stdin = strings.NewReader(s.stdin)
	code := p.Run(ctx, args, &stdout, &stderr)
	return result{stdout.String(), stderr.String(), code}, restore()
}

// enter makes the process's folder and variables those of the shell. What it returns undoes that.
func (s shell) enter() (restore func() error, err error) {
	before, err := os.Getwd()
	if err != nil {
		return func() error { return nil }, err
	}
	undo := []func() error{func() error { return os.Chdir(before) }}
	for name, value := range s.env {
		if old, set := os.LookupEnv(name); set {
			undo = append(undo, func() error { return os.Setenv(name, old) })
		} else {
			undo = append(undo, func() error { return os.Unsetenv(name) })
		}
		err = errors.Join(err, os.Setenv(name, value))
	}
	restore = func() error {
		var failed error
		for _, u := range undo {
			failed = errors.Join(failed, u())
		}
		return failed
	}
	return restore, errors.Join(err, os.Chdir(s.folder))
}

// write writes a file of a test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
