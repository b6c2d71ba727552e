package cmdline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

func TestCode(t *testing.T) {
	plain := errors.New("broken")
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"no error", nil, 0},
		{"no error with a code", cmdline.WithExitCode(3, nil), 0},
		{"an ordinary error", plain, 1},
		{"a coded error", cmdline.WithExitCode(3, plain), 3},
		{"an error before an interruption", cmdline.IfInterrupted(t.Context(), plain), 1},
		{"an error after an interruption", cmdline.IfInterrupted(ended, plain), 130},
		{"a coded error within another", fmt.Errorf("while trying: %w", cmdline.WithExitCode(2, plain)), 2},
	} {
		if got := cmdline.ExitCode(c.err); got != c.want {
			t.Errorf("%s: code %d, want %d", c.name, got, c.want)
		}
	}
	if err := cmdline.WithExitCode(3, plain); !errors.Is(err, plain) || err.Error() != "broken" {
		t.Errorf("%v: the cause is gone", err)
	}
}

func TestUsage(t *testing.T) {
	plain := errors.New("broken")
	if cmdline.IsUsage(nil) || cmdline.IsUsage(plain) || cmdline.UsageError(nil) != nil {
		t.Error("what is not marked is of usage")
	}
	err := cmdline.WithExitCode(2, fmt.Errorf("while reading: %w", cmdline.UsageError(plain)))
	if !cmdline.IsUsage(err) || cmdline.ExitCode(err) != 2 || !errors.Is(err, plain) {
		t.Errorf("%v: the mark, the code or the cause is gone", err)
	}
}
